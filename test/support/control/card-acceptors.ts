/**
 * How card networks write merchants. The forms follow the public document named with each rule; merchants and
 * numbers are invented. A row: the descriptor, the field for the city, the country, the merchant of the intent,
 * and whether the payment may use the intent.
 */
interface Group {
  readonly rule: string
  readonly source: string
  readonly rows: string
}

const groups: readonly Group[] = [
  {
    rule: 'the name itself, in any case',
    // Statements show the name in capital letters.
    source: 'https://docs.stripe.com/get-started/account/statement-descriptors',
    rows: `
BOOKSHOP|Berlin|DE|Bookshop|yes
bookshop|||Bookshop|yes
  BOOKSHOP   |||Bookshop|yes
THE   BOOKSHOP|||The Bookshop|yes
BÜCHEREI|||Bücherei|yes
BOOKSHOPPER|Berlin|DE|Bookshop|no
BOOK|Berlin|DE|Bookshop|no
BOOKSHO|Berlin|DE|Bookshop|no
BOOKSHOP BERLINER|||Bookshop|no
BOOKSHOP CASINO|||Bookshop|no
CASINO BOOKSHOP|||Bookshop|no
MY BOOKSHOP|||Bookshop|no
BOOK SHOP|||Bookshop|no
BOOKSHOPS|||Bookshop|no
BOOKSHOP ONLINE|||Bookshop|no
BOOKSHOP SUPPORT|||Bookshop|no
BOOKSHOP|||Bookshop Berlin|no`,
  },
  {
    rule: 'a name in letters that look alike is another name',
    // Unicode Technical Standard 39 lists the letters that look alike.
    source: 'https://www.unicode.org/reports/tr39/',
    rows: `
ВООKSHOP|||Bookshop|no
BOOKSH0P|||Bookshop|no
BОOKSHOP BERLIN|||Bookshop|no
ＢＯＯＫＳＨＯＰ|||Bookshop|no
AMÁZON|||Amazon|no
ＡＭＡＺＯＮ|||Amazon|no
SP0TIFY|||Spotify|no
BOOKSHOP\u200b|||Bookshop|no
SQ *B00KSHOP|||Bookshop|no
PAYPAL *SPОTIFY|||Spotify|no`,
  },
  {
    rule: 'a city, where the network has a field for it',
    // Name, city and country are subfields of data element 43.
    source: 'https://docs.thredd.com/ehi-json/Content/Appendices/Merch_Name_DE43_Authorisations.htm',
    rows: `
BOOKSHOP POTSDAM|Potsdam|DE|Bookshop|yes
BOOKSHOP BERLIN|Berlin|DE|Bookshop|yes
BOOKSHOP MUENCHEN|München|DE|Bookshop|yes
BOOKSHOP MUNCHEN|München|DE|Bookshop|yes
BOOKSHOP MÜNCHEN|MUENCHEN|DE|Bookshop|yes
BOOKSHOP BAD HOMBURG|BAD HOMBURG|DE|Bookshop|yes
BOOKSHOP FRANKFURT/MAIN|Frankfurt Main|DE|Bookshop|yes
BOOKSHOP, POTSDAM|POTSDAM|DE|Bookshop|yes
BOOKSHOP - POTSDAM|POTSDAM|DE|Bookshop|yes
PIZZERIA NAPOLI|Napoli|IT|Pizzeria|yes
PIZZERIA NAPOLI|Hamburg|DE|Pizzeria|no
PIZZERIA NAPOLI|Hamburg|DE|Pizzeria Napoli|yes
PIZZERIA NAPOLI HAMBURG|Hamburg|DE|Pizzeria Napoli|yes
PIZZERIA NAPOLI HAMBURG|Hamburg|DE|Pizzeria|no
BOOKSHOP BERLIN|Potsdam|DE|Bookshop|no
BOOKSHOP BERLIN BERLIN|Berlin|DE|Bookshop Berlin|yes
BERLIN|Berlin|DE|Berlin|yes
BOOKSHOP-POTSDAM|POTSDAM|DE|Bookshop|no
BOOKSHOPPOTSDAM|POTSDAM|DE|Bookshop|no
POTSDAM BOOKSHOP|POTSDAM|DE|Bookshop|no`,
  },
  {
    rule: 'a listed city of the merchant’s country, where the network has no field for it',
    // The city and the country are always added to the name.
    source: 'https://docs.adyen.com/account/transaction-description',
    rows: `
BOOKSHOP BERLIN|||Bookshop|yes
BOOKSHOP BERLIN||DE|Bookshop|yes
BOOKSHOP BERLIN||US|Bookshop|no
BOOKSHOP PARIS||FR|Bookshop|yes
BOOKSHOP PARIS||DE|Bookshop|no
BOOKSHOP NEW YORK||US|Bookshop|yes
BOOKSHOP DEN HAAG||NL|Bookshop|yes
BOOKSHOP FRANKFURT AM MAIN||DE|Bookshop|yes
PIZZERIA NAPOLI||DE|Pizzeria|no
PIZZERIA NAPOLI||DE|Pizzeria Napoli|yes
BOOKSHOP POTSDAM|||Bookshop|no
BOOKSHOP POTSDAM||DE|Bookshop|no
BOOKSHOP BERLIN MITTE|||Bookshop|no
BOOKSHOP BERLIN|+49 30 1234567|DE|Bookshop|yes
BOOKSHOP BERLIN|BOOKSHOP.EXAMPLE|DE|Bookshop|yes
BOOKSHOPBERLIN|||Bookshop|no`,
  },
  {
    rule: 'a state or a country',
    // The last subfield is a state of the US or of Canada, or an ISO country code.
    source: 'https://docs.thredd.com/ehi-json/Content/Appendices/Merch_Name_DE43_Authorisations.htm',
    rows: `
BOOKSHOP BERLIN DE|||Bookshop|yes
BOOKSHOP BERLIN DEU|||Bookshop|yes
BOOKSHOP DEU|||Bookshop|yes
BOOKSHOP DE||DE|Bookshop|yes
BOOKSHOP GB||GB|Bookshop|yes
BOOKSHOP UK||GB|Bookshop|yes
BOOKSHOP GBR||GB|Bookshop|yes
BOOKSHOP LONDON GB|||Bookshop|yes
BOOKSHOP AUSTIN TX|Austin|US|Bookshop|yes
BOOKSHOP AUSTIN TX|||Bookshop|yes
BOOKSHOP SAN FRANCISCO CA||US|Bookshop|yes
BOOKSHOP 888-555-0100 CA||US|Bookshop|yes
BOOKSHOP DE||FR|Bookshop|no
BOOKSHOP DE|||Bookshop|no
BOOKSHOP IN|||Bookshop|no
COMING TO|||Coming|no
BOOKSHOP TX||US|Bookshop|no
BOOKSHOP AUSTIN TX||DE|Bookshop|no`,
  },
  {
    rule: 'a store number or a postcode',
    // A convention of chains: card networks publish no rule for it.
    source: 'none',
    rows: `
BOOKSHOP 1234|||Bookshop|yes
BOOKSHOP 0815|||Bookshop|yes
BOOKSHOP #12|||Bookshop|yes
BOOKSHOP #A17|||Bookshop|yes
BOOKSHOP STORE 5|||Bookshop|no
APPLE STORE 1234|||Apple Store|yes
APPLE STORE 1234|||Apple|no
BOOKSHOP NR 12|||Bookshop|yes
BOOKSHOP NR. 12|||Bookshop|yes
BOOKSHOP NR.12|||Bookshop|yes
BOOKSHOP FIL 0815|||Bookshop|yes
BOOKSHOP FIL.815|||Bookshop|yes
BOOKSHOP FILIALE 7|||Bookshop|yes
BOOKSHOP 1234 BERLIN|||Bookshop|yes
BOOKSHOP 10115 BERLIN||DE|Bookshop|yes
BOOKSHOP #1234 AUSTIN TX||US|Bookshop|yes
STUDIO 54|||Studio|no
STUDIO 54|||Studio 54|yes
STUDIO 54 1234|||Studio 54|yes
FOREVER 21|||Forever|no
PIER 1|||Pier|no
BOOKSHOP STORE|||Bookshop|no
BOOKSHOP24|||Bookshop|no
1234 BOOKSHOP|||Bookshop|no
BOOKSHOP 12A4|||Bookshop|no`,
  },
  {
    rule: 'a phone number',
    // A merchant without a shop gives its phone number in place of the city.
    source: 'https://developer.paypal.com/braintree/articles/wells-ic/transactions/descriptors',
    rows: `
BOOKSHOP 555-123-1234 NM||US|Bookshop|yes
BOOKSHOP 888-555-0100|||Bookshop|yes
BOOKSHOP +493012345678|||Bookshop|yes
BOOKSHOP +49 30 1234567|||Bookshop|yes
BOOKSHOP (030) 123-4567|||Bookshop|yes
BOOKSHOP 030 1234567 BERLIN||DE|Bookshop|yes
BOOKSHOP 0800/1234567|||Bookshop|yes
BOOKSHOP|888-555-0100|US|Bookshop|yes
BOOKSHOP 800-BOOKS|||Bookshop|no
BOOKSHOP TEL 30|||Bookshop|no`,
  },
  {
    rule: 'a web or e-mail address of the merchant',
    // An address may stand in place of the city.
    source:
      'https://docs.connect.worldline-solutions.com/after-the-payment/chargeback-handling/soft-descriptor.md',
    rows: `
BOOKSHOP BOOKSHOP.EXAMPLE|||Bookshop|yes
BOOKSHOP HELP.BOOKSHOP.COM|||Bookshop|yes
BOOKSHOP WWW.BOOKSHOP.DE|||Bookshop|yes
BOOKSHOP HTTPS://BOOKSHOP.COM/HELP|||Bookshop|yes
BOOKSHOP INFO@BOOKSHOP.DE|||Bookshop|yes
THE BOOKSHOP THEBOOKSHOP.COM|||The Bookshop|yes
BOOKSHOP|HELP.BOOKSHOP.COM|IE|Bookshop|yes
BOOKSHOP CASINO.COM|||Bookshop|no
BOOKSHOP BOOKSHOPPER.COM|||Bookshop|no
BOOKSHOP INFO@CASINO.COM|||Bookshop|no`,
  },
  {
    rule: 'a name that is an address',
    // A website may be the name if it identifies the merchant.
    source: 'https://stripe.com/blog/dynamic-descriptors',
    rows: `
BOOKSHOP.COM|||Bookshop|yes
WWW.BOOKSHOP.COM|||Bookshop|yes
BOOKSHOP.DE||DE|Bookshop|yes
BOOKSHOP.CO.UK||GB|Bookshop|yes
BOOKSHOP.COM BERLIN|||bookshop.com|yes
BOOKSHOP.EXAMPLE|||bookshop.example|yes
WWW.BOOKSHOP.EXAMPLE|||bookshop.example|yes
BOOKSHOP.DE||US|Bookshop|no
BOOKSHOP.XYZ|||Bookshop|no
SHOP.BOOKSHOP.COM|||Bookshop|no
CASINO.BOOKSHOP.COM|||Casino|no
BOOKSHOP.EXAMPLE|||bookshop.com|no`,
  },
  {
    rule: 'a legal form',
    // The name is the trade name or the legal name.
    source: 'https://docs.moov.io/guides/accept-payments/cards/statement-descriptors/',
    rows: `
BOOKSHOP GMBH|||Bookshop|yes
BOOKSHOP INC.|||Bookshop|yes
BOOKSHOP, INC.|||Bookshop|yes
BOOKSHOP LTD LONDON||GB|Bookshop|yes
BOOKSHOP S.A.|||Bookshop|yes
BOOKSHOP GMBH & CO KG|||Bookshop|yes
BOOKSHOP GMBH|||Bookshop GmbH|yes
BOOKSHOP|||Bookshop GmbH|no
BOOKSHOP HOLDING|||Bookshop|no`,
  },
  {
    rule: 'a processor in front: Square',
    source:
      'https://developer.squareup.com/docs/payments-api/take-payments/card-payments/statement-descriptions',
    rows: `
SQ *BOOKSHOP|Berlin|DE|Bookshop|yes
SQ * BOOKSHOP|||Bookshop|yes
SQ*BOOKSHOP|||Bookshop|yes
SQUARE *BOOKSHOP|||Bookshop|yes
GOSQ.COM*BOOKSHOP|||Bookshop|yes
SQ *BOOKSHOP 1234 BERLIN|||Bookshop|yes
SQ *BOOKSHOP POTSDAM|Potsdam|DE|Bookshop|yes
SQ *BOOKSHOP*#02943|||Bookshop|yes
SQ *BOOKSHOPPER|||Bookshop|no
SQ *CASINO|||Bookshop|no
SQ *|||Square|no`,
  },
  {
    rule: 'a processor in front: PayPal',
    source: 'https://developer.paypal.com/platforms/embedded-integration/reference',
    rows: `
PAYPAL *BOOKSHOP|4029357733|GB|Bookshop|yes
PAYPAL*BOOKSHOP|||Bookshop|yes
PP*BOOKSHOP|||Bookshop|yes
PAYPAL *BOOKSHOP BERLIN|||Bookshop|yes
PAYPAL *SPOTIFY|||Spotify|yes
PAYPAL *SPOTIFYAB|||Spotify|yes
PAYPAL *BOOKSHOP 35314369001 GBR|||Bookshop|yes
PAYPAL *CASINO|||PayPal|no
PAYPAL *1234|||PayPal|no
PAYPAL BOOKSHOP|||Bookshop|no`,
  },
  {
    rule: 'a processor in front: SumUp and others',
    source:
      'https://help.sumup.com/en-GB/articles/1ToHa655qh4GVouWdl2z4d-customise-business-name-bank-statement',
    rows: `
SUMUP *BOOKSHOP|Berlin|DE|Bookshop|yes
SumUp  *Bookshop|||Bookshop|yes
SUMUP *BOOKSHOP LYON|Lyon|FR|Bookshop|yes
IZ *BOOKSHOP|||Bookshop|yes
ZETTLE_*BOOKSHOP|||Bookshop|yes
TST* BOOKSHOP|||Bookshop|yes
SP * BOOKSHOP|||Bookshop|yes
KLARNA*BOOKSHOP|||Bookshop|yes
PADDLE.NET* BOOKSHOP|||Bookshop|yes
FS *BOOKSHOP|||Bookshop|yes
PAYPAL *SQ *BOOKSHOP|||Bookshop|yes
UNKNOWN *BOOKSHOP|||Bookshop|no
SUMUP *CASINO|||SumUp|no`,
  },
  {
    rule: 'an order number after an asterisk',
    // A prefix, an asterisk and details of the payment share 22 characters.
    source: 'https://docs.stripe.com/get-started/account/statement-descriptors',
    rows: `
BOOKSHOP*1234|||Bookshop|yes
BOOKSHOP * 1234|||Bookshop|yes
BOOKSHOP* INV-2041|||Bookshop|yes
BOOKSHOP* ORDER 4711|||Bookshop|yes
BOOKSHOP* ORDER #4711|||Bookshop|yes
BOOKSHOP*2K4LJ6ZX5|||Bookshop|yes
BOOKSHOP BERLIN*4711||DE|Bookshop|yes
BOOKSHOP*CASINO|||Bookshop|no
BOOKSHOP*CASINO24|||Bookshop|no
BOOKSHOP* FICTION|||Bookshop|no
CASINO*BOOKSHOP|||Bookshop|no
PAYPAL *BOOKSHOP*CASINO|||Bookshop|no
BOOKSHOP*|||Bookshop|no`,
  },
  {
    rule: 'a listed spelling of a known merchant',
    // Forms that large merchants publish for their customers.
    source: 'https://nednex.com/en/what-is-an-amazon-amzn-mktp-charge-on-your-bank-statement/',
    rows: `
AMZN Mktp DE*2K4LJ6ZX5|amazon.de|LU|Amazon|yes
AMZN MKTP US*A1B2C3D4E|||Amazon|yes
AMAZON.DE*MK4JR1ZQ5||LU|Amazon|yes
Amazon.com*RT4XY12A3 AMZN.COM/BILL WA|||Amazon|yes
AMAZON PRIME*A1B2C3D4E|||Amazon Prime|yes
AMAZON PRIME*A1B2C3D4E|||Amazon|no
AMAZON SUPPORT SERVICES|||Amazon|no
AMAZONIA TOURS|||Amazon|no
AIRBNB * HMABC2ZYE3|||Airbnb|yes
AIRBNBEST|||Airbnb|no
UBER   *TRIP HELP.UBER.COM|||Uber|yes
UBER *EATS|||Uber Eats|yes
GOOGLE *YouTubePremium|||YouTube Premium|yes
NETFLIX.COM|||Netflix|yes
GITHUB, INC. GITHUB.COM|||GitHub|yes
GITHUB *PRO SUBSCRIPTION|||GitHub|yes
SHELL 1234 POTSDAM|Potsdam|DE|Shell|yes
SHELL BEACH RESTAURANT|||Shell|no
REWE SAGT DANKE 4711|||Rewe|yes`,
  },
  {
    rule: 'a name that fills its field is the beginning of a longer one',
    // Mastercard's name field has 22 characters, Visa's 25, the whole data element 40.
    source: 'https://docs.cielo.com.br/ecommerce-cielo/v3.0-en/docs/soft-descriptor',
    rows: `
BOOKSHOP AM ALTEN MARK|Potsdam|DE|Bookshop am alten Markt|yes
BOOKSHOP AM ALTEN MARKT 5|Potsdam|DE|Bookshop am alten Markt 5a|yes
PAYPAL *BOOKSHOP AM AL|||Bookshop am alten Markt|yes
SQ *BOOKSHOP AM ALTEN |||Bookshop am alten Markt|no
BOOKSHOP AM ALTEN MAR|||Bookshop am alten Markt|no
BOOKSHOP AM ALTEN MARKX|||Bookshop am alten Markt|no
BOOKSHOP AM NEUEN MARK|||Bookshop am alten Markt|no
PADDLE.NET* SQ *BOOKSH|||Bookshop|no
BOOKSHOP|||Bookshop am alten Markt|no
BOOKSHOP AM ALTEN MARKT BEIM RATHAUS POT|||Bookshop am alten Markt beim Rathaus Potsdam|yes`,
  },
  {
    rule: 'data element 43 in one text',
    // Mastercard: 22 + 13 + 3 with spaces between. Visa: 25 + 13 + 2.
    source: 'https://docs.thredd.com/ehi-json/Content/Appendices/Merch_Name_DE43_Authorisations.htm',
    rows: `
BOOKSHOP               POTSDAM       DEU|||Bookshop|yes
PAYPAL *BOOKSHOP       35314369001   GBR|||Bookshop|yes
BOOKSHOP POTSDAM       POTSDAM       DEU|||Bookshop|yes
BOOKSHOP   *4711       BILL.BOOKS.EX IRL|||Bookshop|yes
BOOKSHOP                 POTSDAM      DE|||Bookshop|yes
SQ *BOOKSHOP             POTSDAM      DE|||Bookshop|yes
BOOKSHOP AM ALTEN MARK POTSDAM       DEU|||Bookshop am alten Markt|yes
BOOKSHOP AM ALTEN MARKT 5POTSDAM      DE|||Bookshop am alten Markt 5a|yes
BOOKSHOPPER            POTSDAM       DEU|||Bookshop|no
CASINO                 BOOKSHOP      DEU|||Bookshop|no
BOOKSHOP CASINO        POTSDAM       DEU|||Bookshop|no`,
  },
]

export const cardAcceptorForms = groups.map(({ rule, rows }) => ({
  rule,
  forms: rows
    .split('\n')
    .slice(1)
    .map(row => {
      const [descriptor = '', city, country, intended = '', answer] = row.split('|')
      return { descriptor, city: city || null, country: country || null, intended, matches: answer === 'yes' }
    }),
}))
