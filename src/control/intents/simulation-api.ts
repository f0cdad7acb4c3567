import { z } from 'zod'
import { stepRefusals } from '../../identity/approvals/index.ts'
import { notFound, notFoundOrDeleted, post } from '../../kernel/contract/operation.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { positiveMoneySchema } from '../../values/money.ts'
import { countrySchema } from '../../values/schemas.ts'
import { DecisionRecord } from '../decisions/index.ts'
import { PolicyCreate } from '../rules/index.ts'
import {
  budgetLevelRefusals,
  hasOnePayee,
  hasPayee,
  intentMerchantSchema,
  intentRunRefusals,
  mccSchema,
  payeeAmbiguousIssue,
  payeeMismatchRefusal,
  payeeMissingIssue,
  payeeRequestRefusals,
  paymentRequestIdSchema,
} from './schemas.ts'

const Simulation = z
  .strictObject({
    agentId: id('agent')
      .optional()
      .meta({ description: 'Decides for this agent as it is now. An agent’s token may leave it out.' }),
    policyId: id('policy').optional().meta({ description: 'Decides by the rules of this policy alone.' }),
    policy: PolicyCreate.optional().meta({ description: 'Decides by these rules alone.' }),
    amountCents: positiveMoneySchema(),
    merchant: intentMerchantSchema,
    beneficiaryId: id('beneficiary').nullable().default(null),
    walletId: id('wallet').nullable().default(null),
    requestId: paymentRequestIdSchema,
    mcc: mccSchema.nullable().default(null),
    country: countrySchema.nullable().default(null),
    runId: id('run').nullable().default(null).meta({ description: 'A run of the agent.' }),
    cardId: id('card').nullable().default(null).meta({ description: 'A card of the agent.' }),
    at: instant.optional().meta({ description: 'The time for which to decide. Defaults to now.' }),
  })
  .refine(({ agentId, policyId, policy }) => [agentId, policyId, policy].filter(Boolean).length <= 1, {
    path: ['agentId'],
    error: 'send exactly one of agentId, policyId and policy',
  })
  .refine(({ policyId, policy, runId }) => (!policyId && !policy) || runId === null, {
    path: ['runId'],
    error: 'use runId only with agentId',
  })
  .refine(({ policyId, policy, cardId }) => (!policyId && !policy) || cardId === null, {
    path: ['cardId'],
    error: 'use cardId only with agentId',
  })
  .refine(hasPayee, payeeMissingIssue)
  .refine(hasOnePayee, payeeAmbiguousIssue)

const SimulatedDecision = DecisionRecord.extend({
  id: z.null().meta({ description: 'Always null: nothing is stored.', examples: [null] }),
}).meta({ id: 'SimulatedDecision' })

/** The URL is below the policies, but the code is here, because it needs all that decides intents. */
export const intentSimulationApi = {
  simulate: post('/policies/simulate', {
    readsClock: true,
    tag: 'Policies',
    summary: 'Simulate a policy decision',
    tool: {
      name: 'check_payment',
      isCommon: true,
      use: 'Use it to check whether a payment would be approved, without declaring an intent. The check reserves nothing and guarantees nothing.',
    },
    description:
      'Nothing is stored or reserved. With `agentId`, the answer is what `POST /intents` would decide with the same fields, token and `X-Run-Id`; in the console, what it would decide for the agent.\n\nWith `policyId` or `policy`, only the rules decide, for an agent that has spent nothing and has enough money. `at` sets the time, and with it the active hours, the policy’s expiry, and the day and month whose limits apply, with the amounts reserved and spent in them so far.',
    callers: ['key', 'agent'],
    scope: 'policies:read',
    run: 'read',
    limits: { bodyKiB: 256 },
    body: Simulation,
    example: { policy: { name: 'Books', maxTransactionEuros: 50 }, amountEuros: 25, merchant: 'Bookshop' },
    returns: [200, SimulatedDecision],
    fails: {
      policy_not_found: notFound('policy'),
      unknown_approver: stepRefusals.unknown_approver,
      agent_required: [400, 'agentId: send exactly one of agentId, policyId and policy.'],
      agent_not_found: notFoundOrDeleted('agent'),
      wallet_not_found: [404, 'walletId: no such wallet.'],
      wallet_of_card: purseRefusal('walletId'),
      beneficiary_not_found: [404, 'beneficiaryId: no such beneficiary.'],
      ...payeeRequestRefusals,
      payee_mismatch: payeeMismatchRefusal,
      ...intentRunRefusals,
      ...budgetLevelRefusals,
    },
  }),
}
