import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { beneficiariesById } from '../../../money/beneficiaries/index.ts'
import type { Subjects } from '../../../statements/index.ts'
import { formatDecimal } from '../../../values/money.ts'
import type { SpendingAgent } from '../../policies/index.ts'
import { addTolerance } from '../../rules/index.ts'
import type { IntentRow } from '../intent.ts'

type Payee = Pick<IntentRow, 'beneficiaryId' | 'payeeIban'>

export type IbanOf = (intent: Payee) => string | null

/**
 * The present IBANs of beneficiaries. If one has changed since the declaration, the person who signs sees and
 * approves the present one.
 */
export async function readCurrentIbans(sql: Sql, tenant: Tenant, intents: readonly Payee[]): Promise<IbanOf> {
  const ids = intents.flatMap(({ beneficiaryId }) => beneficiaryId ?? [])
  const payees = ids.length > 0 ? await beneficiariesById(sql, tenant, ids) : new Map()
  return ({ beneficiaryId, payeeIban }) => payees.get(String(beneficiaryId))?.iban ?? payeeIban
}

interface Circumstances {
  readonly spender: Pick<SpendingAgent, 'agentName' | 'policy'>
  readonly iban: string | null
  readonly personId: string | null
}

/** The subject that a person signs to approve an intent, with the highest charge that the policy allows. */
export function intentApprovalSubject(
  intent: Pick<
    IntentRow,
    'id' | 'agentId' | 'amountCents' | 'merchant' | 'purpose' | 'walletId' | 'requestId'
  >,
  { spender, iban, personId }: Circumstances,
): Subjects['intent'] {
  const { id, agentId, amountCents, merchant, purpose, walletId, requestId } = intent
  const tolerance = spender.policy.terms?.amountTolerancePercent ?? null
  return {
    intentId: id,
    agentId,
    amountEuros: formatDecimal(amountCents),
    largestEuros: formatDecimal(addTolerance(amountCents, tolerance)),
    currency: 'EUR',
    payee: { name: merchant, iban, walletId, requestId },
    agentName: spender.agentName,
    purpose,
    person: personId,
  }
}
