import { z } from 'zod'
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
    if (!day || others.length > 0 || !z.iso.date().safeParse(date).success)
      return { failure: 'The file of the ECB does not contain the rates of exactly one day.' }
    const rows = elementsAt(day, 'Cube').map(rateOf)
    const rates = new Map(rows.filter(row => row !== undefined))
    // A row that is left out would make its currency unknown until the next day.
    return rows.length > 0 && rates.size === rows.length
      ? { date, rates }
      : { failure: 'The file of the ECB has a row without a readable rate, a currency twice, or no row.' }
  } catch (error) {
    if (!(error instanceof UnreadableXml)) throw error
    return { failure: `The file of the ECB cannot be read: ${error.message}` }
  }
}

const isOfBank = ({ namespace }: XmlElement): boolean => namespace === NAMESPACE

function rateOf({ attributes }: XmlElement): [currency: string, rate: string] | undefined {
  const [currency = '', rate = ''] = [attributes.get('currency'), attributes.get('rate')]
  return /^[A-Z]{3}$/.test(currency) && currency !== 'EUR' && RATE.test(rate) ? [currency, rate] : undefined
}
