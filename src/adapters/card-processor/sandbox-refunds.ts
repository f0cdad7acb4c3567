import { hash } from 'node:crypto'
import type {
  CardMessage,
  ProcessorAnswer,
  PushCardRefund,
  SignedCardMessage,
} from '../../ports/card-processor.ts'
import { addMs, minutes } from '../../values/clock.ts'

export type DeliverMessage = (
  message: SignedCardMessage,
  requestId: string,
) => Promise<ProcessorAnswer | null>

/** Documented at `POST /refunds`. For other amounts the merchant waits for `POST /simulate/card/refund`. */
const SENT_CENTS = 9_301n
const DECLINED_CENTS = 9_302n
const SILENT_CENTS = 9_303n
const SILENT_MS = minutes(60)

const SENT_AT = new Date(0)

export const sandboxRefunds =
  (sign: (message: CardMessage) => SignedCardMessage, deliver: DeliverMessage): PushCardRefund =>
  async ({ processorCardId, requestedAt, ...refund }, { reference, requestId, now }) => {
    const isSilent = refund.amountCents === SILENT_CENTS
    if (isSilent && now < addMs(requestedAt, SILENT_MS)) return { failure: 'late' }
    if (refund.amountCents === DECLINED_CENTS)
      return { status: 'declined', message: 'The merchant does not accept returns.' }
    if (refund.amountCents !== SENT_CENTS && !isSilent) return { status: 'asked' }
    const refundId = `sandboxrefund_${hash('sha256', reference, 'base64url')}`
    const content = { kind: 'refund', refundId, ...refund } as const
    const message = sign({ id: refundId, processorCardId, sentAt: SENT_AT, content })
    return (await deliver(message, requestId)) ? { status: 'asked' } : { failure: 'late' }
  }
