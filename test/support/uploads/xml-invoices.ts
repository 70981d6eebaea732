import { pdfStream, wholePdf } from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";

const CII = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100";

/** The XML of a Factur-X invoice, with other elements in it. */
export const invoiceXml = (more = "", before = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${before}<rsm:CrossIndustryInvoice xmlns:rsm="${CII}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><rsm:ID>INV &amp; 1</rsm:ID>${more}</rsm:CrossIndustryInvoice>`;

const TYPE = "/Type /EmbeddedFile /Subtype /text#2Fxml ";

type Parts = {
  xml?: string;
  /** The object of the file, number 6. */
  stream?: string;
  /** The file specification, number 5. */
  specification?: string;
  more?: string[];
  names?: string;
};

export const SPECIFICATION =
  "<< /Type /Filespec /F (factur-x.xml) /UF <FEFF0066002E0078006D006C> /AFRelationship /Data /EF << /F 6 0 R /UF 6 0 R >> >>";

/** A page with an attached file, to which the catalog leads as in PDF/A-3. */
export const invoicePdf = ({
  xml = invoiceXml(),
  stream = pdfStream(xml, true, TYPE),
  specification = SPECIFICATION,
  more = [],
  names = "/Names << /EmbeddedFiles << /Names [(f) 5 0 R] >> >>",
}: Parts = {}): Buffer => {
  const catalog = `<< /Type /Catalog /Pages 2 0 R /AF [5 0 R] ${names} >>`;
  const plain = wholePdf(specification, stream, ...more, catalog).toString("latin1");
  const number = 7 + more.length;
  return Buffer.from(plain.replace("/Root 1 0 R", `/Root ${number} 0 R`), "latin1");
};

/** The same, with the file specification in an object stream. */
export const packedInvoicePdf = (specification = SPECIFICATION, isPacked = true): Buffer =>
  invoicePdf({
    specification: "null",
    names: "",
    more: [
      pdfStream(`5 0 ${specification}`, isPacked, "/Type /ObjStm /N 1 /First 4 "),
      "<< /AF [5 0 R] >>",
    ],
  });

const named = (name: string): Parts => ({
  specification: SPECIFICATION.replace("(factur-x.xml)", name),
});

const KINDS: readonly [string, Buffer][] = [
  [
    "an XML file with an entity",
    invoicePdf({
      xml: invoiceXml("&e;", '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
    }),
  ],
  [
    "an XML file with a script of XHTML",
    invoicePdf({ xml: invoiceXml('<script xmlns="http://www.w3.org/1999/xhtml">1</script>') }),
  ],
  [
    "an XML file with a script of SVG under a prefix",
    invoicePdf({ xml: invoiceXml('<s:script xmlns:s="http://www.w3.org/2000/svg">1</s:script>') }),
  ],
  ["an XML file without a namespace", invoicePdf({ xml: "<html><script>1</script></html>" })],
  ["a Word file as an invoice", invoicePdf({ xml: "PK\x03\x04" })],
  ["an invoice with the name of a program", invoicePdf(named("(invoice.xml.exe)"))],
  ["an invoice with the name of a page", invoicePdf(named("(invoice.hta)"))],
  ["an invoice with an escaped name", invoicePdf(named("(a.hta\\000.xml)"))],
  ["an invoice with a second name", invoicePdf(named("(a.xml) /DOS (a.exe)"))],
  [
    "an invoice behind two filters",
    invoicePdf({
      stream: `<< /Length 1 /Filter [/ASCIIHexDecode /FlateDecode] ${TYPE}>>\nstream\n>\nendstream`,
    }),
  ],
  ["an attached file in an object stream", packedInvoicePdf("<< /F (a.exe) /EF << /F 6 0 R >> >>")],
  ["related files", invoicePdf({ more: ["<< /RF << /F [(a.exe) 4 0 R] >> >>"] })],
];

export const hostileInvoices: readonly HostileUpload[] = KINDS.map(([title, bytes]) =>
  rejected(`a PDF with ${title}`, "a.pdf", bytes),
);
