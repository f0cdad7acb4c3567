import {
  aBeneficiary,
  aDelegation,
  anAgentUnder,
  type anIntent,
  aPolicy,
  aRun,
  aWallet,
  bodyOf,
  redeemDelegation,
} from '../factories.ts'
import type { TestService } from '../harness.ts'

/** The evening of a future month's last day, so that two steps of three hours cross into the next month. */
const EVENING = Date.UTC(new Date().getUTCFullYear() + 1, 0, 31, 19)

export const DAILY = 1_800_00
export const MONTHLY = 2_500_00

/** The sandbox bank decides by amount: the first two are paid, the third is rejected, the last stays in transit. */
const amounts = [100.07, 250, 666.01, 777.06]
const payees = ['wallet', 'sepa', 'unknown'] as const
const budgetKinds = ['agent', 'run', 'delegation'] as const
const rules = {
  dailyLimitEuros: DAILY / 100,
  monthlyLimitEuros: MONTHLY / 100,
  maxUsageCount: 7,
  autoApproveLimitEuros: 700,
  amountTolerancePercent: 10,
}

export async function aSpender(service: TestService) {
  const { client, ownerId } = await service.owner()
  await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, EVENING - Date.now()])
  await bodyOf(client.risk.configure({ body: { enabled: false } }))
  const agent = await anAgentUnder(client, rules)
  const run = await aRun(client, agent.id, { budgetEuros: 1_000 })
  const delegation = await aDelegation(client, agent.id, { maxAmountEuros: 900, expiresInMinutes: 10_000 })
  const { token } = await redeemDelegation(client, delegation)
  const payee = {
    wallet: { walletId: (await aWallet(client)).id },
    sepa: { beneficiaryId: (await aBeneficiary(client)).id },
    unknown: { beneficiaryId: (await aBeneficiary(client, { name: 'No Match GmbH' })).id },
  }
  const by = { agent: client, run: client, delegation: service.client(String(token)) }
  const template = (await aPolicy(client, rules)).id
  return { client, agent, run, delegation, payee, by, template }
}

export type Spender = Awaited<ReturnType<typeof aSpender>>
type Intent = Awaited<ReturnType<typeof anIntent>>

/** Everything that changes reservations. The number chooses amount, payee and record. */
export const actions = {
  async declare({ agent, run, payee, by }: Spender, n: number) {
    const budgetKind = budgetKinds[n % 3] as (typeof budgetKinds)[number]
    await by[budgetKind].intents.create({
      body: {
        agentId: agent.id,
        purpose: 'P',
        expiresInMinutes: 300,
        amountEuros: amounts[(n >> 2) % 4] as number,
        runId: budgetKind === 'run' ? run.id : null,
        ...payee[payees[(n >> 4) % 3] as (typeof payees)[number]],
      },
    })
  },
  approve: ({ client }, _, intent) => intent && client.intents.approve({ params: intent }),
  deny: ({ client }, _, intent) => intent && client.intents.deny({ params: intent, body: { reason: 'No' } }),
  cancel: ({ client }, _, intent) => intent && client.intents.cancel({ params: intent }),
  pay: ({ client, agent }, n, intent) =>
    intent &&
    client.transfers.create({
      body: {
        fromWalletId: agent.walletId,
        intentId: intent.id,
        ...(intent.walletId
          ? { toWalletId: intent.walletId, amountEuros: n % 2 ? intent.amountEuros : 33.33 }
          : { beneficiaryId: String(intent.beneficiaryId), amountEuros: intent.amountEuros }),
      },
    }),
  cancelTransfer: ({ client }, _, __, transfer) => transfer && client.transfers.cancel({ params: transfer }),
  reject: ({ client }, _, __, transfer) =>
    transfer && client.transfers.simulateReject({ body: { transferId: transfer.id } }),
  sendBack: ({ client }, _, __, transfer) =>
    transfer && client.transfers.simulateReturn({ body: { transferId: transfer.id } }),
  soon: ({ client }) => client.sandbox.advance({ body: { minutes: 2 } }),
  later: ({ client }) => client.sandbox.advance({ body: { minutes: 180 } }),
  freeze: ({ client, agent }) => client.agents.freeze({ params: agent }),
  unfreeze: ({ client, agent }) => client.agents.unfreeze({ params: agent }),
  assign: ({ client, agent, template }) =>
    client.policies.assign({ params: { agentId: agent.id }, body: { policyId: template } }),
  endRun: ({ client, run }) => client.runs.complete({ params: run }),
  revoke: ({ client, delegation }) => client.delegations.revoke({ params: delegation }),
} satisfies Record<
  string,
  (spender: Spender, n: number, intent: Intent | undefined, transfer: { id: string } | undefined) => unknown
>

export type Action = keyof typeof actions
export type Step = readonly [Action, number]
