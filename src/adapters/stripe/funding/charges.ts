import type Stripe from 'stripe'
import { z } from 'zod'
import { isProcessorFailure, type ProcessorFailure } from '../../../ports/card-processor.ts'
import type { ChargeState, FundingCall, FundingCharge } from '../../../ports/funding-rail.ts'
import { addMs, days, minutes } from '../../../values/clock.ts'
import { failureFromStripeError, UNUSABLE_ANSWER } from '../issuing/connection.ts'
import { methodOf } from './instruments.ts'
import { FUNDING_ID, returnOf } from './returns.ts'

/** Stripe forgets a key a day after its first use at the earliest. */
const KEY_LASTS_MS = minutes(20 * 60)
/** How long a person has for the step that their bank requires. */
const STEP_LASTS_MS = days(1)
/** Webhooks tell of a change at once; these are for one that is lost. */
const ASK_AGAIN_MS = { processing: minutes(4 * 60), requiresAction: minutes(10) }
/** Two clocks never differ by more: the signatures of events allow five minutes. */
const SKEW_MS = minutes(60)

const Intent = z.object({
  id: z.string().min(1),
  status: z.string(),
  metadata: z.record(z.string(), z.string()),
  next_action: z
    .object({ type: z.string(), redirect_to_url: z.object({ url: z.url().nullable() }).nullish() })
    .nullish(),
  last_payment_error: z
    .object({ code: z.string().nullish(), decline_code: z.string().nullish(), message: z.string().nullish() })
    .nullish(),
})
type Intent = z.output<typeof Intent>

type Asked<T> = Promise<T | ProcessorFailure>

export async function makeCharge(
  stripe: Stripe,
  charge: FundingCharge,
  call: FundingCall,
): Asked<ChargeState> {
  const made = await createIntent(stripe, charge, call).catch(failureFromStripeError)
  if (!isProcessorFailure(made)) return follow(stripe, made, charge, { ...call, now: charge.madeAt })
  // Only this refusal means that there is no payment intent, and not if the key has made one.
  if (made.failure !== 'refused' || made.code === 'idempotency_error') return made
  return failed(made.code, made.message)
}

/** The same key and parameters give the same payment intent, so a repetition charges nothing. */
async function createIntent(stripe: Stripe, charge: FundingCharge, call: FundingCall): Asked<Intent> {
  const { kind, customer, method, mandate } = methodOf(charge.token)
  const made = await intentOf(
    stripe.paymentIntents.create(
      {
        amount: Number(charge.amountCents),
        currency: 'eur',
        customer,
        payment_method: method,
        allowed_payment_method_types: [kind],
        ...(mandate === null ? {} : { mandate }),
        confirm: true,
        off_session: true,
        return_url: call.returnUrl,
        metadata: { [FUNDING_ID]: call.reference },
      },
      { idempotencyKey: `funding/${call.reference}` },
    ),
  )
  return made ?? UNUSABLE_ANSWER
}

/** A declined payment intent is in the error. */
async function intentOf(answer: Promise<Stripe.PaymentIntent>): Promise<Intent | undefined> {
  try {
    return Intent.safeParse(await answer).data
  } catch (error) {
    const declined = Intent.safeParse((error as { payment_intent?: unknown }).payment_intent).data
    if (declined) return declined
    throw error
  }
}

type Following = FundingCall & { readonly now: Date }

/**
 * Looks for the payment intent before it orders it again: Stripe forgets keys. A charge whose key may be
 * forgotten, and that is not found, is not ordered again.
 */
export async function findCharge(stripe: Stripe, charge: FundingCharge, call: Following): Asked<ChargeState> {
  const found = await findIntent(stripe, charge, call)
  if (found) return follow(stripe, found, charge, call)
  const isFresh = call.now.getTime() - charge.madeAt.getTime() < KEY_LASTS_MS
  return isFresh ? makeCharge(stripe, charge, call) : { status: 'unknown' }
}

const secondsAfter = (instant: Date, ms: number): number => Math.floor(addMs(instant, ms).getTime() / 1_000)

/** Only where it can be: those of months would be too many to answer in time. */
async function findIntent(
  stripe: Stripe,
  { token, madeAt }: FundingCharge,
  { reference }: FundingCall,
): Promise<Intent | undefined> {
  const { customer } = methodOf(token)
  const created = { gte: secondsAfter(madeAt, -SKEW_MS), lte: secondsAfter(madeAt, KEY_LASTS_MS + SKEW_MS) }
  for await (const one of stripe.paymentIntents.list({ customer, created, limit: 100 })) {
    const intent = Intent.parse(one)
    if (intent.metadata[FUNDING_ID] === reference) return intent
  }
  return undefined
}

async function follow(
  stripe: Stripe,
  intent: Intent,
  charge: FundingCharge,
  call: Following,
): Asked<ChargeState> {
  const { status, last_payment_error: error } = intent
  const mustAsk = status === 'requires_payment_method' && error?.code === 'authentication_required'
  const isTooLate = call.now.getTime() - charge.madeAt.getTime() >= STEP_LASTS_MS
  if (isTooLate && (mustAsk || status === 'requires_action')) return giveUp(stripe, intent, call)
  if (mustAsk) return askThePayer(stripe, intent, charge, call)
  return status === 'succeeded' ? returnOf(stripe, intent.id) : stateFrom(intent, call.now)
}

/**
 * The bank wants to ask the payer, who is not there: the same payment intent is confirmed again, with a page. Within a
 * day, in which Stripe keeps the key, it is confirmed once.
 */
async function askThePayer(
  stripe: Stripe,
  { id }: Intent,
  { token }: FundingCharge,
  { reference, returnUrl, now }: Following,
): Asked<ChargeState> {
  const confirmed = await intentOf(
    stripe.paymentIntents.confirm(
      id,
      { payment_method: methodOf(token).method, return_url: returnUrl },
      { idempotencyKey: `funding/${reference}/step` },
    ),
  )
  return confirmed ? stateFrom(confirmed, now) : UNUSABLE_ANSWER
}

/** Stripe refuses to cancel what has gone on meanwhile: its state is read again. */
async function giveUp(stripe: Stripe, { id }: Intent, { now }: Following): Asked<ChargeState> {
  const ended = await stripe.paymentIntents.cancel(id).catch(() => stripe.paymentIntents.retrieve(id))
  const intent = Intent.safeParse(ended).data
  if (!intent) return UNUSABLE_ANSWER
  return intent.status === 'canceled'
    ? failed('action_not_completed', 'The payer did not confirm in time.')
    : stateFrom(intent, now)
}

const failed = (code: string, message: string): ChargeState => ({
  status: 'failed',
  reason: { code, message },
})

function stateFrom({ status, next_action, last_payment_error: error }: Intent, now: Date): ChargeState {
  if (status === 'succeeded') return { status: 'settled' }
  if (status === 'processing') return { status: 'pending', askAgainAt: addMs(now, ASK_AGAIN_MS.processing) }
  const url = next_action?.redirect_to_url?.url
  const askAgainAt = addMs(now, ASK_AGAIN_MS.requiresAction)
  if (status === 'requires_action')
    return url
      ? { status, nextAction: { type: 'redirect', url }, askAgainAt }
      : { status: 'pending', askAgainAt }
  const code = error?.decline_code ?? error?.code ?? status
  return failed(code, (error?.message ?? 'The payer’s bank declined.').slice(0, 500))
}
