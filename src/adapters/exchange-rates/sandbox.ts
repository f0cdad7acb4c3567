import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExchangeRates, isRatesFailure } from '../../ports/exchange-rates.ts'
import { parseReferenceRates } from './ecb-file.ts'

/** The same rates every day, so that amounts in tests and documentation do not change. */
export function sandboxRates(): ExchangeRates {
  const read = parseReferenceRates(readFileSync(join(import.meta.dirname, 'sandbox-rates.xml'), 'utf8'))
  if (isRatesFailure(read)) throw new Error(read.failure)
  return { name: 'sandbox', rates: read.rates }
}
