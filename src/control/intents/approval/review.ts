import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type { Euros } from '../../../values/money.ts'
import { type Check, withTolerance } from '../../rules/index.ts'
import type { Intent } from '../intent.ts'
import { readSpendContext } from '../spend-context.ts'
import { Approval } from './approval.ts'
import { decideApproval } from './approve.ts'
import { currentIbans } from './statement.ts'

/** What a person would sign at this moment, and what every rule says to it. */
export interface ApprovalReview {
  readonly iban: string | null
  readonly largestEuros: Euros
  readonly checks: readonly Check[]
}

/** Looks what an approval of a waiting intent would be decided by now. Stores and reserves nothing. */
export async function reviewApproval(
  intent: Intent,
  { sql, tenant, now }: TenantNow & { readonly sql: Sql },
): Promise<ApprovalReview> {
  const tenantNow = { tenant, now }
  const [context, ibanOf] = await Promise.all([
    readSpendContext(sql, tenantNow, [intent]),
    currentIbans(sql, tenant, [intent]),
  ])
  const agent = context.agents.get(intent.agentId)
  if (!agent) throw new Error(`${intent.id} has no agent`)
  const iban = ibanOf(intent)
  const signature = { iban, verified: { attestedAt: now } }
  const { ruling } = decideApproval(tenantNow, intent, agent, { ...context, book: context.funds }, signature)
  const tolerance = agent.policy.terms?.amountTolerancePercent ?? null
  return { iban, largestEuros: withTolerance(intent.amountEuros, tolerance), checks: ruling.checks }
}

/** Whether a passkey has approved the intent, so that there is a proof. */
export const hasProof = async (intentId: string, records: Records): Promise<boolean> =>
  (await records.count(Approval, { intentId })) > 0

/** The proof that a passkey has approved the intent, as a signed text; null where no person has. */
export const proofOf = async (intentId: string, records: Records): Promise<string | null> =>
  (await records.findOne(Approval, { intentId }))?.jws ?? null
