import { foldMerchant, nameOfDescriptor } from '../../control/merchants/index.ts'
import { inSlices, type Sliced } from '../../kernel/contract/time-slices.ts'
import { boundedCache } from '../../values/bounded-cache.ts'

/** The merchant that a payment's text names, as payments are grouped: in one way for all spellings. */
export const merchantOf = boundedCache((text: string): string => foldMerchant(nameOfDescriptor(text)))

function* resolved(texts: readonly string[]): Sliced<string[]> {
  const merchants: string[] = []
  for (const text of texts) {
    merchants.push(merchantOf(text))
    yield
  }
  return merchants
}

/** The same of many texts, in their order. A hundred thousand take seconds, in which nobody is to wait. */
export const merchantsOf = (texts: readonly string[]): Promise<string[]> => inSlices(resolved(texts))
