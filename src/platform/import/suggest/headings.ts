import leven from "leven";

/** Concepts of columns of days, and of amounts. */
export const DAYS: ReadonlySet<Concept | undefined> = new Set<Concept>([
  "paymentDate",
  "documentDate",
  "createdDate",
  "dueDate",
  "closedDate",
]);
export const AMOUNTS: ReadonlySet<Concept | undefined> = new Set<Concept>([
  "amount",
  "openAmount",
  "originalAmount",
  "appliedAmount",
  "debit",
  "credit",
  "discount",
  "deduction",
  "creditLimit",
]);

/**
 * Headings of exports of receivables in English, German, French, Spanish, Italian and Dutch, without accents, spaces
 * and signs. The first concepts win where a heading could be of several.
 */
const HEADINGS = {
  paymentId:
    "paymentid paymentnumber paymentno paymentnr transactionid transactionnumber transactionno receiptnumber receiptno " +
    "checknumber checkno chequenumber zahlungsnummer zahlungsnr transaktionsid transaktionsnummer transaktionsnr buchungsnummer " +
    "numeropaiement numerotransaction numerodepaiement idtransaction numeropago idpago idtransaccion numerotransaccion " +
    "numerodipagamento idtransazione betalingsnummer betaalnummer transactienummer networkpaymentid eingangsnr",
  id: "id rowid recordid",
  reference:
    "reference ref bankreference paymentreference tracenumber trace confirmationnumber referenz zahlungsreferenz " +
    "bankreferenz referenznummer referencepaiement referencebancaire referencia referenciapago riferimento referentie " +
    "kenmerk betalingskenmerk endtoendid kundenreferenz transactionref chqrefno",
  documentNumber:
    "documentnumber documentno docnumber docno invoicenumber invoiceno invoice invoicenum invoicenr invoiceid inv " +
    "invno billnumber rechnungsnummer rechnungsnr rechnung rgnr renr rechnr belegnummer belegnr beleg belegnummerextern " +
    "numerofacture nofacture facture ndefacture nfacture numerodefacture numeropiece piece numerofactura nofactura " +
    "factura numerodefactura nfactura numerodocumento documento ndocumento numerofattura nfattura fattura numerodoc " +
    "factuurnummer factuurnr factuur documentnummer boekstuknummer opbelegnummer belegfeld belegfeld1",
  number: "num number no nr numero nummer",
  accountNumber:
    "accountnumber accountno customernumber customerno customerid customer custno custid accountid account " +
    "customeraccount clientnumber clientid kundennummer kundennr kunde kdnr kdnummer debitor debitorennummer " +
    "debitorennr debitorennr debitorenkonto konto kontonummer personenkonto numeroclient noclient codeclient client compteclient " +
    "compte idclient numerocliente codigocliente cliente idcliente ncliente codicecliente numerodicliente klantnummer " +
    "klantnr klant debiteurnummer debiteurnr debiteur debiteurencode relatienummer",
  customerName:
    "customername accountname clientname payername payer name company companyname debtor debtorname remitter " +
    "counterparty counterpartyname payee payeename " +
    "kundenname auftraggeber zahler einzahler zahlungspflichtiger debitorenname firma firmenname namekunde " +
    "auftraggeberempfanger auftraggeberempfaenger begunstigterauftraggeber namezahlungsbeteiligter " +
    "auftraggeberzahler auftraggebername beguenstigterzahlungspflichtiger begunstigterzahlungspflichtiger nomclient " +
    "nomduclient nom payeur donneurdordre raisonsociale tiers emetteur nombrecliente nombre pagador ordenante " +
    "razonsocial nomecliente nome ragionesociale ordinante klantnaam naam bedrijfsnaam betaler debiteurnaam " +
    "naamtegenpartij tegenpartij naamomschrijving contactname contact",
  paymentDate:
    "paymentdate datepaid paiddate receiptdate depositdate datereceived date postingdate bookingdate valuedate " +
    "transactiondate completeddate datecompleted settlementdate arrivaldate payoutdate zahlungsdatum zahldatum buchungstag buchungsdatum valuta valutadatum wertstellung " +
    "eingangsdatum datum buchung wertstellungsdatum wertstellungstag datepaiement datedepaiement datevaleur dateoperation datecomptable datereglement fechapago " +
    "fechadepago fecha fechavalor fechaoperacion datapagamento data datavaluta dataoperazione betaaldatum betalingsdatum " +
    "boekdatum boekingsdatum valutadatum rentedatum transactiedatum zahlungstag",
  documentDate:
    "invoicedate documentdate docdate issuedate dateissued billdate rechnungsdatum rgdatum belegdatum ausstellungsdatum " +
    "datefacture datedefacture datepiece dateemission fechafactura fechadefactura fechaemision fechadocumento " +
    "datafattura datadocumento dataemissione factuurdatum documentdatum disputedate opened " +
    "openeddate reklamationsdatum datereclamation fechareclamacion",
  createdDate:
    "created createdate createddate createdat createdon datecreated creationdate erstelltam erstellungsdatum datecreation " +
    "fechacreacion datacreazione aanmaakdatum",
  dueDate:
    "due duedate netduedate paymentdue datedue maturitydate faelligkeit falligkeit faellig fallig faelligam falligam " +
    "faelligkeitsdatum falligkeitsdatum nettofaelligkeit nettofalligkeit zahlungsziel dateecheance datedecheance echeance " +
    "fechavencimiento fechadevencimiento vencimiento datascadenza scadenza vervaldatum vervaldag",
  closedDate:
    "closeddate dateclosed resolveddate abschlussdatum datecloture fechacierre datachiusura sluitdatum",
  openAmount:
    "openamount openbalance balance balancedue amountdue outstanding outstandingamount invoiceamountdue remaining offenerbetrag offen " +
    "offenerposten restbetrag saldo montantouvert solde soldeouvert resteapayer restedu montantdu importependiente " +
    "pendiente saldopendiente importoaperto residuo saldoaperto openstaand openstaandbedrag openbedrag restant",
  originalAmount:
    "originalamount invoiceamount invoicetotal totalamount grossamount documentamount originalbetrag rechnungsbetrag " +
    "bruttobetrag brutto belegbetrag gesamtbetrag montantfacture montantttc totalttc montantinitial importefactura " +
    "importetotal importebruto totalfactura importofattura importototale totalefattura importolordo factuurbedrag " +
    "totaalbedrag brutobedrag",
  appliedAmount:
    "appliedamount amountapplied allocatedamount allocated verrechneterbetrag zugeordneterbetrag montantaffecte " +
    "montantimpute importeaplicado importoassegnato toegewezenbedrag",
  debit:
    "debit debits debitamount dr withdrawal withdrawals withdrawalamount paidout soll sollbetrag lastschrift ausgang belastung debet " +
    "montantdebit cargo cargos debe dare addebito addebiti af uit afschrijving",
  credit:
    "credit credits creditamount cr deposit deposits depositamount paidin haben habenbetrag gutschrift eingang gutschriftbetrag " +
    "montantcredit abono abonos haber avere accredito accrediti bij bijschrijving",
  amount:
    "amount paymentamount amountpaid paidamount payment total value sum netamount disputedamount disputeamount betrag " +
    "zahlbetrag zahlungsbetrag umsatz summe wert gezahlt reklamationsbetrag montant montantpaye montantpaiement " +
    "montantregle importe importepagado monto cantidad importo importopagato bedrag betaaldbedrag betaald " +
    "betragineur betrageur betraginhw betraginhauswahrung betraginbelegwahrung betraginhauswaehrung gross",
  sign:
    "dc drcr crdr debitcredit debitcreditindicator creditdebit creditdebitindicator sign sollhaben shkz sh " +
    "sollhabenkennzeichen kennzeichen senscd sens signe signo debehaber segno dareavere afbij debetcredit indicator",
  currency:
    "currency currencycode ccy curr cur waehrung wahrung whg wkz devise monnaie codedevise moneda divisa codigomoneda " +
    "valutacode munt muntsoort valutacodice wahrg waehrg",
  poNumber:
    "ponumber po pono purchaseorder purchaseordernumber customerpo bestellnummer bestellnr bestellung auftragsnummer " +
    "numerocommande commande bondecommande numeropedido pedido ordendecompra numeroordine ordine bestelnummer ordernummer",
  text:
    "description text details narrative narration memo remarks remittanceinformation remittancetext purpose notes note comment " +
    "verwendungszweck buchungstext bemerkung beschreibung zahlungsgrund libelle communication motif concepto descripcion " +
    "observaciones causale descrizione omschrijving mededeling mededelingen opmerking",
  discount:
    "discount discounttaken cashdiscount skonto skontobetrag escompte descuento sconto korting betalingskorting",
  deduction:
    "deduction deductionamount shortpay abzug abzugsbetrag kuerzung kurzung deductionmontant deduccion deduzione aftrek",
  reason:
    "reason reasoncode deductionreason disputereason disputecode grund grundcode abzugsgrund reklamationsgrund " +
    "ursachencode raison codemotif motivo codigomotivo causa reden redencode",
  category: "category categorycode kategorie categorie categoria disputecategory",
  documentType:
    "documenttype doctype type transactiontype belegart belegtyp dokumentart art typepiece typedocument typededocument " +
    "tipo tipodocumento tipodedocumento documentsoort soort",
  appliesTo:
    "appliesto appliestoinvoice originalinvoice relatedinvoice bezugsrechnung ursprungsrechnung zurechnung " +
    "factureorigine factureliee facturaoriginal fatturaoriginale oorspronkelijkefactuur",
  status:
    "status paymentstatus paymentstate state zahlungsstatus zahlstatus statut statutpaiement estado estadopago stato " +
    "statopagamento betaalstatus",
  paymentMethod:
    "paymentmethod method paymenttype zahlungsart zahlart zahlungsweise modepaiement modedepaiement moyendepaiement " +
    "formapago mododepago metododepago metodopagamento betaalwijze betaalmethode",
  street:
    "street address address1 addressline1 strasse anschrift adresse rue calle direccion indirizzo via straat adres",
  city: "city town ort stadt ville ciudad poblacion citta plaats stad",
  zip: "zip zipcode postcode postalcode plz postleitzahl codepostal cp codigopostal cap",
  country: "country countrycode land laendercode landcode pays codepays pais nazione paese",
  phone: "phone telephone phonenumber tel telefon telefonnummer telefono telefoon telefoonnummer",
  email:
    "email emailaddress mail emailadresse courriel adressemail correo correoelectronico posta emailadres",
  vat: "vat vatid vatnumber taxid ustid ustidnr ustidnummer umsatzsteuerid tvaintra numerotva tva nif cif partitaiva btwnummer btw",
  terms:
    "terms paymentterms zahlungsbedingung zahlungsbedingungen conditions conditionspaiement conditionsdepaiement " +
    "condicionespago condicionesdepago condizionidipagamento betalingsvoorwaarden betaaltermijn",
  creditLimit: "creditlimit kreditlimit limitecredit plafond limitecredito fido kredietlimiet",
  disputeCode:
    "disputecode disputenumber disputeno claimnumber claimno claimid caseid caseno casenumber reklamationsnummer " +
    "reklamationsnr numerolitige numeroreclamo numeroreclamacion klachtnummer",
  author:
    "author createdby enteredby writtenby user username verfasser erstelltvon benutzer autor auteur utilisateur " +
    "usuario autore utente gebruiker",
  subject: "subject heading topic betreff sujet objet asunto oggetto onderwerp",
  firstName: "firstname givenname forename vorname prenom nombredepila voornaam",
  lastName:
    "lastname surname familyname nachname nomdefamille apellido apellidos cognome achternaam",
  role: "role roles userrole rolle rollen perfil rol ruolo",
};

/** The subjects of columns, for all kinds of records. */
export type Concept = keyof typeof HEADINGS;

const CONCEPTS: ReadonlyMap<string, Concept> = new Map(
  Object.entries(HEADINGS)
    .toReversed()
    .flatMap(([concept, words]) =>
      words.split(/ +/).map((word): [string, Concept] => [word, concept as Concept]),
    ),
);

const ACCENTS = /\p{M}/gu;
const LONGEST = 80;
const MONEY = /(?:eur|euros?|usd|dollars?|chf|francs?|gbp)$/;
const CODE = /\b([A-Z]{3})\b/;

/** Removes accents, spaces, signs and text in brackets from a heading. */
export const simplifyHeading = (heading: string): string =>
  heading
    .slice(0, LONGEST)
    .replaceAll(/[([][^()[\]]*[)\]]/g, "")
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replaceAll(ACCENTS, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** Writes usual abbreviations in full. */
const expand = (plain: string): string =>
  plain
    .replace(/amt$/, "amount")
    .replace(/dt$/, "date")
    .replace(/^txn(?=date|id|no|ref)/, "transaction");

const SHORTEST_ALIKE = 7;

/** Returns what a heading is about; undefined if it is none of the known ones or like them. */
export const findConcept = (heading: string): Concept | undefined => {
  const plain = simplifyHeading(heading);
  const withoutCode = simplifyHeading(heading.replace(CODE, ""));
  const withoutMoney = plain.replace(MONEY, "");
  // "Gutschrift in CHF"
  const withoutIn = (withoutCode === plain ? withoutMoney : withoutCode).replace(/in$/, "");
  const forms = [plain, withoutCode, withoutMoney, withoutIn, expand(plain), expand(withoutCode)];
  const found = forms.map((form) => CONCEPTS.get(form)).find((concept) => concept !== undefined);
  if (found !== undefined || plain.length < SHORTEST_ALIKE) return found;
  const [near] = [...CONCEPTS].filter(
    ([word]) => word.length >= SHORTEST_ALIKE && leven(word, plain) === 1,
  );
  return near?.[1];
};

/** Returns the currency code in a heading such as `Amount (EUR)`. */
export const findCodes = (text: string): string[] =>
  [...text.matchAll(/\b[A-Z]{3}\b/g)].map(([code]) => code);
