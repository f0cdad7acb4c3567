import type { Ports } from '../../../kernel/contract/ports.ts'
import type { OutboundAnswer } from '../../../ports/outbound.ts'
import type { MerchantRequest } from '../merchant-request.ts'
import { askRefusals } from '../refusals.ts'
import type { PayProblem } from './reservation.ts'

export interface Outside {
  readonly ports: Ports
  readonly requestId: string
}

/** How many requests to one merchant wait at once: a dead one must not take what others need. */
export const AT_ONCE = 64

export const sendable = ({ url, method, headers, body }: MerchantRequest) => ({
  url,
  method,
  headers,
  ...(body === null ? {} : { body }),
})

/** Why somebody who was asked before the minting has given nothing. */
export function unanswered(answer: Exclude<OutboundAnswer, { kind: 'answered' }>): PayProblem {
  if (answer.kind === 'refused') return { code: 'url_refused', message: `url: ${answer.message}` }
  if (answer.kind === 'busy') return { code: 'merchant_busy', message: askRefusals.merchant_busy[1] }
  const code = answer.timedOut ? 'merchant_silent' : 'merchant_unusable'
  return { code, message: `${askRefusals[code][1]} ${answer.message}` }
}
