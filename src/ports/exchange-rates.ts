/** Euro reference rates of one day. */
export interface ReferenceRates {
  /** The day for which they were published: `2026-11-25`. */
  readonly date: string
  /** By ISO 4217 code, the units of the currency for one euro: a decimal number as it was published. */
  readonly rates: ReadonlyMap<string, string>
}

export interface RatesFailure {
  readonly failure: string
}

export const isRatesFailure = (answer: ReferenceRates | RatesFailure): answer is RatesFailure =>
  'failure' in answer

/** Where the rates of a mode come from: fixed ones, or a source whose latest ones are fetched and stored. */
export type ExchangeRates =
  | { readonly name: 'sandbox'; readonly rates: ReferenceRates['rates'] }
  | {
      readonly name: 'ecb'
      latest(): Promise<ReferenceRates | RatesFailure>
      /** Has them fetched and stored beside the request that found old ones. It waits for nothing. */
      fetchSoon(): void
    }
