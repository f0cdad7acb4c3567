import type { Systems } from '../../../kernel/contract/ports.ts'
import {
  type ChargeMethod,
  chargeMethods,
  type PaidOperations,
  type PublishedOffer,
  publishedOffers,
  readPaidOperations,
} from '../../../mpp/index.ts'
import { SharedCache } from '../../../values/bounded-cache.ts'
import { clock, minutes } from '../../../values/clock.ts'
import { formatMoney } from '../../../values/money.ts'
import { type EuroPrice, euroPriceOf, exclusionNote, listedNames, priceInWords } from '../offers.ts'
import {
  isPayProblem,
  type MachinePayment,
  type MachinePaymentProblem,
  type PayingMethods,
} from './payment.ts'

const TIMEOUT_MS = 3_000
const MOST_BYTES = 2_097_152
const MOST_CONCURRENT = 8

/**
 * What a merchant publishes about the request (`x-payment-info` of its OpenAPI) that the intent cannot pay. It is
 * asked before a request that may have an effect, and only for that: the challenge decides what is paid.
 */
export async function publishedProblem(
  payment: MachinePayment,
  systems: Systems,
): Promise<MachinePaymentProblem | undefined> {
  const { ownerId, request, methods, heldCents, rates, marginPercent } = payment
  if (request.method === 'GET') return undefined
  const url = new URL(request.url)
  const operations = await operationsOf(url.origin, ownerId, systems)
  const offers = publishedOffers(operations, { method: request.method, url })
  if (offers.length === 0) return undefined
  const payable = offers.filter(offer => isPayable(offer, methods))
  if (payable.length === 0) return noMethod(offers, payment)
  const prices = payable.map(({ method, amount, currency }) => {
    if (!amount || !currency) return undefined
    const asked = { method: chargeMethods.find(one => one === method), charge: { amount, currency } }
    const price = euroPriceOf(asked, rates, marginPercent)
    return isPayProblem(price) ? undefined : price
  })
  const [first] = prices
  const isAbove = (price: EuroPrice | undefined) => price !== undefined && price.amountCents > heldCents
  if (!first || !prices.every(isAbove)) return undefined
  return {
    code: 'amount_above_held',
    message: `url: the merchant publishes a price of ${priceInWords(first)} in its OpenAPI, but only ${formatMoney(heldCents)} is held for the intent. Nothing was sent. Declare an intent for the full price.`,
  }
}

const isPayable = ({ method, intent }: PublishedOffer, methods: readonly ChargeMethod[]): boolean =>
  (method === undefined || methods.some(one => one === method)) && (intent ?? 'charge') === 'charge'

function noMethod(offers: readonly PublishedOffer[], paying: PayingMethods): MachinePaymentProblem {
  const offered = listedNames([
    ...new Set(offers.map(({ method, intent }) => `${method}/${intent ?? 'charge'}`)),
  ])
  const wanted = paying.methods.map(method => `${method}/charge`).join(' or ')
  const note = exclusionNote(paying, method => offers.some(offer => isPayable(offer, [method])))
  return {
    code: 'no_card_offer',
    message: `url: the merchant’s OpenAPI offers ${offered} for this request, not ${wanted}.${note} Nothing was sent.`,
  }
}

interface Published {
  readonly until: number
  readonly operations: Promise<PaidOperations>
}

/** A merchant without a document is not asked again meanwhile, either. */
const KEPT_MS = minutes(5)
const MERCHANTS = { most: 500, mostOfOne: 20 }

const known = new WeakMap<Systems['outbound'], SharedCache<Published>>()

function operationsOf(
  origin: string,
  ownerId: string,
  { outbound, threads }: Systems,
): Promise<PaidOperations> {
  const merchants = known.get(outbound) ?? new SharedCache<Published>(MERCHANTS)
  known.set(outbound, merchants)
  const now = clock.real().getTime()
  const kept = merchants.get(origin)
  if (kept && kept.until > now) return kept.operations
  const read = readOperations(origin, ownerId, { outbound, threads })
  const operations = read.then(found => found ?? [])
  const published = { until: now + KEPT_MS, operations }
  merchants.set(origin, published, ownerId)
  const forget = () => merchants.delete(origin, published)
  void read.then(found => found ?? forget(), forget)
  return operations
}

/** In bytes. The longest document takes 46 ms, during which other requests wait: one above this is read in a thread. */
const READ_HERE = 65_536

/** Without a free thread, the document says nothing: it is advice. Undefined where nothing was sent. */
async function readOperations(
  origin: string,
  ownerId: string,
  { outbound, threads }: Pick<Systems, 'outbound' | 'threads'>,
): Promise<PaidOperations | undefined> {
  const answer = await outbound.send({
    url: `${origin}/openapi.json`,
    method: 'GET',
    headers: { accept: 'application/json' },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MOST_BYTES,
    maxConcurrent: { ownerId, most: MOST_CONCURRENT },
  })
  if (answer.kind === 'busy') return undefined
  if (answer.kind !== 'answered' || answer.status !== 200 || answer.cut) return []
  if (answer.body.length <= READ_HERE) return readPaidOperations(answer.body)
  const module = new URL('../../../mpp/discovery.ts', import.meta.url)
  const task = { module, name: 'readPaidOperations', owner: ownerId }
  return threads.run<typeof readPaidOperations>(task, answer.body).catch(() => [])
}
