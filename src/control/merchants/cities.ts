const lists = {
  AT: 'GRAZ, LINZ, SALZBURG, VIENNA, WIEN',
  BE: 'ANTWERPEN, BRUSSELS, BRUXELLES, GENT',
  BG: 'SOFIA',
  CH: 'BASEL, BERN, GENEVE, ZUERICH, ZURICH',
  CZ: 'PRAGUE, PRAHA',
  DE:
    'BERLIN, BONN, BREMEN, COLOGNE, DORTMUND, DRESDEN, DUESSELDORF, DUSSELDORF, ESSEN, FRANKFURT, FRANKFURT AM MAIN, ' +
    'HAMBURG, HANNOVER, KARLSRUHE, KOELN, KOLN, LEIPZIG, MUENCHEN, MUNCHEN, MUNICH, NUERNBERG, NURNBERG, STUTTGART, ' +
    'GERMANY, DEUTSCHLAND',
  DK: 'COPENHAGEN, KOBENHAVN',
  EE: 'TALLINN',
  ES: 'BARCELONA, BILBAO, MADRID, MALAGA, SEVILLA, VALENCIA',
  FI: 'HELSINKI',
  FR: 'BORDEAUX, LILLE, LYON, MARSEILLE, NICE, PARIS, STRASBOURG, TOULOUSE, FRANCE',
  GB: 'LONDON, LONDON GB, MANCHESTER',
  GR: 'ATHENS, ATHINA',
  HR: 'ZAGREB',
  HU: 'BUDAPEST',
  IE: 'CORK, DUBLIN, IRELAND',
  IT: 'BOLOGNA, FIRENZE, MILAN, MILANO, NAPOLI, ROMA, ROME, TORINO, VENEZIA',
  LT: 'VILNIUS',
  LU: 'LUXEMBOURG',
  LV: 'RIGA',
  NL: 'AMSTERDAM, DEN HAAG, EINDHOVEN, ROTTERDAM, UTRECHT',
  NO: 'OSLO',
  PL: 'KRAKOW, WARSAW, WARSZAWA',
  PT: 'LISBOA, LISBON, PORTO',
  RO: 'BUCHAREST',
  SE: 'GOTHENBURG, MALMO, STOCKHOLM',
  SI: 'LJUBLJANA',
  SK: 'BRATISLAVA',
  US: 'AUSTIN, BOSTON, CHICAGO, LOS ANGELES, NEW YORK, OAKLAND, PALO ALTO, PORTLAND, SAN FRANCISCO, SAN JOSE, SEATTLE',
}

/** Cities, and some countries by name, as card statements spell them, with the country that each is in. */
export const countryOfCity: ReadonlyMap<string, string> = new Map(
  Object.entries(lists).flatMap(([country, cities]) => cities.split(', ').map(city => [city, country])),
)

/** Codes of three letters in ISO 3166-1, which Mastercard writes, with those of two. */
export const alpha2OfAlpha3: ReadonlyMap<string, string> = new Map(
  (
    'AUT AT, BEL BE, BGR BG, CAN CA, CHE CH, CYP CY, CZE CZ, DEU DE, DNK DK, ESP ES, EST EE, FIN FI, FRA FR, GBR GB, ' +
    'GRC GR, HRV HR, HUN HU, IRL IE, ISL IS, ITA IT, LIE LI, LTU LT, LUX LU, LVA LV, MLT MT, NLD NL, NOR NO, POL PL, ' +
    'PRT PT, ROU RO, SVK SK, SVN SI, SWE SE, USA US'
  )
    .split(', ')
    .map(pair => pair.split(' ') as [string, string]),
)
