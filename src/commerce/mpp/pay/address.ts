import type { Context } from '../../../kernel/contract/context.ts'
import { addressRefusals } from '../api.ts'
import { isPayee, otherPayeeMessage, plainHost } from '../hosts.ts'
import { protectionOf, type Rule } from '../protect-rule.ts'
import type { PayProblem } from './payment.ts'

/**
 * In test mode, this service's own listener may be paid, since it plays merchants and serves requests of
 * other owners.
 */
export const allowsOwnListener = (mode: string): boolean => mode === 'test'

export function addressProblem(
  text: string,
  { ports: { outbound }, tenant: { mode } }: Pick<Context, 'ports' | 'tenant'>,
): PayProblem | undefined {
  const refused = outbound.judge(text, { ownListener: allowsOwnListener(mode) })
  if (refused) return { code: 'url_refused', message: `url: ${refused.message}` }
  const isPlain = URL.parse(text)?.protocol === 'http:'
  return isPlain && !(mode === 'test' && outbound.isAllowed(text))
    ? { code: 'https_required', message: addressRefusals.https_required[1] }
    : undefined
}

interface Payer {
  readonly agentId: string
  readonly merchant: string
}

/** Why an agent may not pay the host of an address: the owner's rules, or an intent for another merchant. */
export function payeeProblem(
  url: URL,
  { agentId, merchant }: Payer,
  rules: readonly Rule[],
): PayProblem | undefined {
  const { deniedBy, hasAllowRules, isAllowed } = protectionOf(url, agentId, rules)
  if (deniedBy !== null)
    return {
      code: 'merchant_denied',
      message: `url: the protect rule ${deniedBy} denies ${plainHost(url)}. The owner can delete it: DELETE /mpp/protect/${deniedBy}.`,
    }
  if (hasAllowRules && !isAllowed)
    return { code: 'merchant_not_allowed', message: addressRefusals.merchant_not_allowed[1] }
  return isPayee(merchant, url, isAllowed)
    ? undefined
    : { code: 'merchant_mismatch', message: otherPayeeMessage(merchant, url) }
}
