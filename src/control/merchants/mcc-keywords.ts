/**
 * Words that tell what a merchant sells, in several languages, by category code. A word that ends in `…` is a
 * prefix.
 */
const table = `
4111|METRO, VERKEHRSBETRIEBE, BVG, RATP
4121|TAXI…, CAB, CABS
4511|AIRLINE…, AIRWAYS
4722|REISEBUERO…, TRAVEL, VIAJES, VOYAGES
4816|HOSTING, WEBHOSTING, DOMAINS, VPS
5251|EISENWAREN, HARDWARE, FERRETERIA
5411|SUPERMARKT…, SUPERMARKET…, SUPERMERCADO…, SUPERMARCHE…, SUPERMERCATO, GROCERY, GROCERIES, LEBENSMITTEL…
5462|BAECKEREI…, BACKEREI…, BAKERY, BOULANGERIE, PANADERIA, PANIFICIO, PATISSERIE
5541|TANKSTELLE…, PETROL, GASOLINERA
5734|SOFTWARE, SAAS
5812|RESTAURANT…, RISTORANTE, TRATTORIA, OSTERIA, PIZZERIA, BISTRO, BRASSERIE, GASTHAUS, GASTHOF, SUSHI, TAVERNA
5813|PUB, BAR, BREWERY, WINEBAR
5814|CAFE, COFFEE, COFF, KAFFEE, ESPRESSO, ROASTERS, KEBAB, IMBISS, BURGER, BURGERS
5912|APOTHEKE…, PHARMACY, PHARMACIE, FARMACIA, CHEMIST
5942|BUCHHANDLUNG…, BOOKSHOP, BOOKSTORE, BOOKS, LIBRAIRIE, LIBRERIA, BUECHER…
5992|FLORIST…, BLUMEN, FLOWERS, FLEURISTE
5995|PETS, TIERBEDARF
7011|HOTEL…, HOSTEL, MOTEL, PENSION, ALBERGO, GUESTHOUSE
7230|FRISEUR…, BARBER, BARBERSHOP, COIFFEUR, SALON
7372|AI, API, CLOUD, DATA
7523|PARKING…, PARKHAUS…, PARKPLATZ, CARPARK
7832|CINEMA…, KINO, CINE
7991|MUSEUM, MUSEE, MUSEO
7995|CASINO…, BETTING, LOTTERY, LOTTO
7997|FITNESS…, GYM
8011|ARZTPRAXIS, DOCTOR, CLINIC
8021|ZAHNARZT…, DENTAL, DENTIST
8220|UNIVERSIT…, HOCHSCHULE, COLLEGE
8111|RECHTSANWALT…, NOTAR, LAWYERS
`

const codeByWord = new Map<string, string>()
const codesByPrefix: (readonly [prefix: string, mcc: string])[] = []
for (const line of table.trim().split('\n')) {
  const [mcc = '', words = ''] = line.split('|')
  for (const word of words.split(', '))
    if (word.endsWith('…')) codesByPrefix.push([word.slice(0, -1), mcc])
    else codeByWord.set(word, mcc)
}

const codeOf = (word: string): string | undefined =>
  codeByWord.get(word) ?? codesByPrefix.find(([prefix]) => word.startsWith(prefix))?.[1]

/** The first word with a category decides. */
export const guessMcc = (words: readonly string[]): string | null =>
  words.map(codeOf).find(mcc => mcc !== undefined) ?? null
