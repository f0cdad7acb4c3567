import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { merchantUrlRefusals } from '../api.ts'
import { canonicalHost, isIntentMerchant, otherMerchantMessage } from '../hosts.ts'
import { hostProtection, type ProtectRuleEntry } from '../protect-rule.ts'
import type { MachinePaymentProblem } from './payment.ts'

/**
 * In test mode, this service's own listener may be paid, since it plays merchants and serves requests of
 * other owners.
 */
export const allowsOwnListener = (mode: string): boolean => mode === 'test'

export function merchantUrlProblem(
  text: string,
  {
    ports: { outbound },
    tenant: { mode },
  }: { readonly ports: Pick<Ports, 'outbound'>; readonly tenant: Tenant },
): MachinePaymentProblem | undefined {
  const refused = outbound.judge(text, { ownListener: allowsOwnListener(mode) })
  if (refused) return { code: 'url_refused', message: `url: ${refused.message}` }
  const isPlain = URL.parse(text)?.protocol === 'http:'
  return isPlain && !(mode === 'test' && outbound.isAllowed(text))
    ? { code: 'https_required', message: merchantUrlRefusals.https_required[1] }
    : undefined
}

interface Payer {
  readonly agentId: string
  readonly merchant: string
}

/** Why an agent may not pay the host of an address: the owner's rules, or an intent for another merchant. */
export function payableHostProblem(
  url: URL,
  { agentId, merchant }: Payer,
  rules: readonly ProtectRuleEntry[],
): MachinePaymentProblem | undefined {
  const { deniedBy, hasAllowRules, isAllowed } = hostProtection(url, agentId, rules)
  if (deniedBy !== null)
    return {
      code: 'merchant_denied',
      message: `url: the protect rule ${deniedBy} denies ${canonicalHost(url)}. The owner can delete it: DELETE /mpp/protect/${deniedBy}.`,
    }
  if (hasAllowRules && !isAllowed)
    return { code: 'merchant_not_allowed', message: merchantUrlRefusals.merchant_not_allowed[1] }
  return isIntentMerchant(merchant, url, isAllowed)
    ? undefined
    : { code: 'merchant_mismatch', message: otherMerchantMessage(merchant, url) }
}
