/**
 * The EPC's list of SEPA scheme countries (EPC409-09 v8.0 of 24 December 2025) by the country code of an IBAN: the EU,
 * the other countries of the EEA, and those outside it.
 */
const codes =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK ' +
  'IS LI NO ' +
  'AD AL CH GB GI MC MD ME MK RS SM VA'

export const sepaCountries: ReadonlySet<string> = new Set(codes.split(' '))

/** SEPA territories whose accounts have the IBAN of another country, though their banks' BICs name the territory. */
export const ibanCountryOf: Readonly<Record<string, string>> = {
  AX: 'FI',
  BL: 'FR',
  GF: 'FR',
  GP: 'FR',
  MF: 'FR',
  MQ: 'FR',
  PM: 'FR',
  RE: 'FR',
  YT: 'FR',
  GG: 'GB',
  IM: 'GB',
  JE: 'GB',
}
