import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { payeesById } from '../../../money/beneficiaries/index.ts'
import type { Subjects } from '../../../statements/index.ts'
import { decimal } from '../../../values/money.ts'
import type { Spender } from '../../policies/index.ts'
import { withTolerance } from '../../rules/index.ts'
import type { IntentRow } from '../intent-rows.ts'

type Payee = Pick<IntentRow, 'beneficiaryId' | 'payeeIban'>

/** Gives the IBAN that is paid on an intent as of now. */
export type IbanOf = (intent: Payee) => string | null

/**
 * Reads the IBANs that beneficiaries have by now. One that was changed since the intent was declared is shown to the
 * person who signs, and is what the person has approved.
 */
export async function currentIbans(sql: Sql, tenant: Tenant, intents: readonly Payee[]): Promise<IbanOf> {
  const ids = intents.flatMap(({ beneficiaryId }) => beneficiaryId ?? [])
  const payees = ids.length > 0 ? await payeesById(sql, tenant, ids) : new Map()
  return ({ beneficiaryId, payeeIban }) => payees.get(String(beneficiaryId))?.iban ?? payeeIban
}

interface Circumstances {
  readonly spender: Pick<Spender, 'policy'>
  readonly iban: string | null
  /** The person for whom the statement is; null where anybody who may can sign it. */
  readonly personId: string | null
}

/** What a person signs to approve an intent as it stands now, with the most that the policy lets be charged. */
export function subjectOf(
  intent: Pick<IntentRow, 'id' | 'agentId' | 'amountEuros' | 'merchant' | 'walletId' | 'requestId'>,
  { spender, iban, personId }: Circumstances,
): Subjects['intent'] {
  const { id, agentId, amountEuros, merchant, walletId, requestId } = intent
  const tolerance = spender.policy.terms?.amountTolerancePercent ?? null
  return {
    intentId: id,
    agentId,
    amountEuros: decimal(amountEuros),
    largestEuros: decimal(withTolerance(amountEuros, tolerance)),
    currency: 'EUR',
    payee: { name: merchant, iban, walletId, requestId },
    person: personId,
  }
}
