import { z } from 'zod'
import type { AcquirerNotice, AcquirerNotices } from '../../../ports/acquirer.ts'
import { isProcessorFailure } from '../../../ports/card-processor.ts'
import type { StripeAccount, StripeCaller } from '../issuing/connection.ts'
import { STRIPE_PREVIEW_VERSION } from '../issuing/shared-tokens.ts'
import { stripeSignatureProblem } from '../issuing/signature.ts'
import { ChargeMetadata } from './returns.ts'

/** Which events have news of what. The object of the first is a payment intent, and that of the others names one. */
const ABOUT: ReadonlyMap<string, 'charge' | 'returns'> = new Map([
  ['payment_intent.succeeded', 'charge'],
  ['payment_intent.payment_failed', 'charge'],
  ['payment_intent.canceled', 'charge'],
  ['refund.created', 'returns'],
  ['refund.updated', 'returns'],
  ['refund.failed', 'returns'],
  ['charge.dispute.created', 'returns'],
  ['charge.dispute.updated', 'returns'],
  ['charge.dispute.funds_withdrawn', 'returns'],
  ['charge.dispute.funds_reinstated', 'returns'],
  ['charge.dispute.closed', 'returns'],
])

const id = z.string().regex(/^\w{1,200}$/)

const Event = z.object({ type: z.string(), data: z.object({ object: z.unknown() }) })

const Intent = z.object({ id, metadata: z.record(z.string(), z.string()).default({}) })

const OfIntent = z.object({
  payment_intent: z
    .union([id, z.object({ id })])
    .nullish()
    .transform(intent => (typeof intent === 'string' ? intent : intent?.id)),
})

/** Events of the account’s payments: each says only of which charge there is news. */
export function stripeAcquirerNotices(account: StripeAccount, ask: StripeCaller): AcquirerNotices {
  async function chargeOf(
    object: unknown,
    about: 'charge' | 'returns',
  ): Promise<z.output<typeof Intent> | 'ignored' | 'unanswered'> {
    if (about === 'charge') return Intent.parse(object)
    const { payment_intent: intentId } = OfIntent.parse(object)
    if (intentId === undefined) return 'ignored'
    const read = await ask<object>(stripe =>
      stripe.rawRequest('GET', `/v1/payment_intents/${intentId}`, undefined, {
        apiVersion: STRIPE_PREVIEW_VERSION,
      }),
    )
    return isProcessorFailure(read) ? 'unanswered' : Intent.parse(read)
  }

  async function noticeIn(body: Uint8Array): Promise<AcquirerNotice> {
    const { type, data } = Event.parse(JSON.parse(Buffer.from(body).toString('utf8')))
    const about = ABOUT.get(type)
    if (!about) return { kind: 'ignored' }
    const charge = await chargeOf(data.object, about)
    if (typeof charge === 'string') return { kind: charge }
    const { reference, owner: ownerId, mode } = ChargeMetadata.safeParse(charge.metadata).data ?? {}
    return reference !== undefined && ownerId !== undefined && mode
      ? { kind: 'notice', about, reference, ownerId, mode }
      : { kind: 'ignored' }
  }

  return {
    recognizes: headers => headers['stripe-signature'] !== undefined,
    async read(body, headers, now) {
      const problem = stripeSignatureProblem(body, headers['stripe-signature'], account.webhookSecrets, now)
      if (problem !== null) return { kind: 'unsigned', reason: problem }
      return noticeIn(body).catch((error: unknown) => {
        if (error instanceof SyntaxError || error instanceof z.ZodError)
          return { kind: 'unreadable', reason: 'The event does not have the form of a Stripe event.' }
        throw error
      })
    },
  }
}
