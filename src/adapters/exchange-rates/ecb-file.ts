import { elementsAt, parseXml, UnreadableXml, type XmlElement } from '../../iso20022/xml-reader.ts'
import type { RatesFailure, ReferenceRates } from '../../ports/exchange-rates.ts'

/** The namespace of the elements that have the rates; the envelope has another one. */
const NAMESPACE = 'http://www.ecb.int/vocabulary/2002-08-01/eurofxref'

const RATE = /^(?!0+(?:\.0+)?$)\d{1,9}(?:\.\d{1,8})?$/

/** Reads `eurofxref-daily.xml` of the European Central Bank: a cube of a day, with a cube for each currency. */
export function parseReferenceRates(text: string): ReferenceRates | RatesFailure {
  try {
    const document = parseXml(text)
    const [day, ...others] = elementsAt(document, 'Cube/Cube').filter(isOfBank)
    const date = day?.attributes.get('time') ?? ''
    if (!day || others.length > 0 || !/^\d{4}-\d{2}-\d{2}$/.test(date))
      return { failure: 'The file of the ECB does not contain the rates of exactly one day.' }
    const rates = new Map(elementsAt(day, 'Cube').flatMap(rateOf))
    return rates.size > 0 ? { date, rates } : { failure: 'The file of the ECB contains no rate.' }
  } catch (error) {
    if (!(error instanceof UnreadableXml)) throw error
    return { failure: `The file of the ECB cannot be read: ${error.message}` }
  }
}

const isOfBank = ({ namespace }: XmlElement): boolean => namespace === NAMESPACE

function rateOf({ attributes }: XmlElement): [string, string][] {
  const [currency = '', rate = ''] = [attributes.get('currency'), attributes.get('rate')]
  return /^[A-Z]{3}$/.test(currency) && currency !== 'EUR' && RATE.test(rate) ? [[currency, rate]] : []
}
