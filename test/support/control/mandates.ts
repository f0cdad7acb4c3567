import { clientAt } from '../client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { enrolled, signed } from '../identity/people.ts'

type Constraints = Partial<
  Record<'perTransactionEuros' | 'perDayEuros' | 'perMonthEuros' | 'totalEuros' | 'count', number>
> &
  Partial<Record<'merchants' | 'mccs' | 'countries', string[]>>

interface Members {
  readonly name?: string | null
  readonly expiresAt?: string
}

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

type Rules = Parameters<typeof anAgentUnder>[1]

/** The policy approves at most one euro by itself, so any other automatic approval comes from a mandate. */
const ASKS: Rules = { autoApproveLimitEuros: 1 }

export function mandatesIn(service: TestService, secondUrl: string) {
  async function anOwnerWithAgent(rules: Rules = {}) {
    const owner = await service.owner()
    const signer = await enrolled(service, owner)
    const agent = await anAgentUnder(owner.client, { ...ASKS, ...rules })
    const clients = [owner.client, clientAt({ url: secondUrl, token: owner.key })] as const
    let shops = 0
    const buy = (amountEuros: number, members = {}, by: TestClient = owner.client) =>
      anIntent(by, agent.id, { amountEuros, merchant: `Shop ${++shops}`, ...members })
    const simulate = (amountEuros: number, members = {}) =>
      bodyOf(
        owner.client.intents.simulate({
          body: { agentId: agent.id, amountEuros, merchant: 'Shop', ...members },
        }),
      )
    return {
      ...owner,
      signer,
      agent,
      id: agent.id,
      buy,
      simulate,
      anyClient: (n: number) => clients[n % 2] as TestClient,
    }
  }
  type Subject = Awaited<ReturnType<typeof anOwnerWithAgent>>

  async function signedMandate(
    { client, id: agentId, signer }: Pick<Subject, 'client' | 'id' | 'signer'>,
    constraints: Constraints,
    { name = 'Books', expiresAt = inDays(30) }: Members = {},
  ) {
    const members = { agentId, name, constraints, expiresAt }
    const challenge = await bodyOf(client.mandates.options({ body: members }))
    return { ...members, webauthnAssertion: signed(challenge, signer.device) }
  }

  const aMandate = async (
    subject: Pick<Subject, 'client' | 'id' | 'signer'>,
    constraints: Constraints,
    members: Members = {},
  ) => bodyOf(subject.client.mandates.create({ body: await signedMandate(subject, constraints, members) }))

  const countersOf = (id: string) =>
    service.sql<{ period: string; reserved: string; spent: string; uses: number; waiting: number }>(
      `select split_part(period, ':', 1) as period, reserved_cents as reserved, spent_cents as spent, uses,
        reserved_uses as waiting from counters where subject = $1 order by period, counters.period`,
      [id],
    )

  const eventsOf = async (id: string): Promise<string[]> => {
    const rows = await service.sql<{ event: string }>(
      `select event from events where data ->> 'mandateId' = $1 and event like 'mandate.%' order by id`,
      [id],
    )
    return rows.map(({ event }) => event)
  }

  return { anOwnerWithAgent, aMandate, signedMandate, countersOf, eventsOf }
}

/** The decider of an intent; `nobody` while it waits. */
export const deciderOf = ({
  decidedBy,
}: {
  readonly decidedBy: { readonly type: string; readonly id: string | null } | null
}) => (decidedBy ? (decidedBy.type === 'mandate' ? decidedBy.id : decidedBy.type) : 'nobody')
