/** Words that make 2,700 different names of customers. */
const FIRST =
  "Amber Anchor Arden Aspen Aurora Banner Beacon Birch Bluff Boulder Bramble Bridge Brook Canyon Cascade Cedar Cinder Clover Compass Copper Coral Crescent Delta Dover Eagle Echo Elm Ember Falcon Fern Flint Forge Garnet Glacier Granite Grove Harvest Hazel Heron Hickory Highland Horizon Iris Ivory Jasper Juniper Keystone Lantern Larch Laurel Ledge Lily Linden Magnolia Maple Marble Meadow Mesa Mill Mistral Moss Oak Olive Onyx Orchard Osprey Pacific Palisade Pebble Pine Pioneer Poplar Prairie Quarry Raven Redwood Ridge River Rowan Saffron Sage Sierra Silver Slate Spruce Sterling Summit Teal Thistle Timber".split(
    " ",
  );
const SECOND =
  "Hardware,Industrial,Foods,Tools,Packaging,Plumbing,Electric,Motors,Paper,Textiles,Glass,Paints,Marine,Medical,Optics,Garden,Kitchens,Roofing,Steel,Rubber,Plastics,Ceramics,Lighting,Fasteners,Bearings,Pumps,Valves,Cables,Furniture,Toys".split(
    ",",
  );

/** Returns a name of a customer for each number below 2,700. */
export const nameCustomer = (number: number): string =>
  `${FIRST[number % FIRST.length] ?? ""} ${SECOND[Math.floor(number / FIRST.length)] ?? ""}`;
