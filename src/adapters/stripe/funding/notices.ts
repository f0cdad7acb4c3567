import { z } from 'zod'
import { isProcessorFailure } from '../../../ports/card-processor.ts'
import type { FundingNoticeHeaders, ParsedFundingNotice } from '../../../ports/funding-rail.ts'
import type { StripeCaller } from '../issuing/connection.ts'
import { stripeSignatureProblem } from '../issuing/signature.ts'
import { FUNDING_ID } from './returns.ts'

const metadata = z.record(z.string(), z.string())

/** A payment intent, or what belongs to one: a charge, a refund or a dispute. */
const Event = z.object({
  data: z.object({
    object: z.object({
      object: z.string(),
      metadata: metadata.nullish(),
      payment_intent: z.string().nullish(),
    }),
  }),
})

/**
 * An event only says that something has changed; the state is asked for. So their order, and how often they
 * come, do not matter.
 */
export async function readFundingNotice(
  body: Uint8Array,
  headers: FundingNoticeHeaders,
  now: Date,
  secrets: readonly string[],
  ask: StripeCaller,
): Promise<ParsedFundingNotice> {
  const unsigned = stripeSignatureProblem(body, headers['stripe-signature'], secrets, now)
  if (unsigned !== null) return { kind: 'unsigned', reason: unsigned }
  const event = Event.safeParse(jsonOf(body)).data
  if (!event) return { kind: 'unreadable', reason: 'The body is not an event of Stripe.' }
  const { object, metadata: given, payment_intent: id } = event.data.object
  if (object === 'payment_intent') return noticeAbout(given)
  if (!id) return { kind: 'ignored' }
  const intent = await ask(stripe => stripe.paymentIntents.retrieve(id))
  if (!isProcessorFailure(intent)) return noticeAbout(intent.metadata)
  return { kind: intent.failure === 'refused' ? 'ignored' : 'unanswered' }
}

/** The account may make other payment intents, too. */
function noticeAbout(members: z.output<typeof metadata> | null | undefined): ParsedFundingNotice {
  const reference = members?.[FUNDING_ID]
  return reference === undefined ? { kind: 'ignored' } : { kind: 'notice', reference }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}
