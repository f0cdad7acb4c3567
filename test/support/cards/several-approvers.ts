import { anAgentUnder, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { type Enrolled, enrolled, linkedChallenge, signed } from '../identity/people.ts'
import { aCardRequest, getRequest } from './card-requests.ts'

export interface Step {
  readonly aboveEuros: number
  readonly of: 'owners' | 'approvers' | string[]
  readonly need: number
  readonly withinMinutes: number
  readonly then: 'next' | 'deny'
}

export const approvers = (need: number, others: Partial<Step> = {}): Step => ({
  ...{ aboveEuros: 20, of: 'approvers', need, withinMinutes: 240, then: 'deny' },
  ...others,
})

type ApprovalBody = NonNullable<Parameters<TestClient['cardRequests']['approve']>[0]['body']>

/** An approval by the key, with the signature of this person over the challenge of its refusal. */
export async function approveAs(
  client: TestClient,
  id: string,
  { device }: Pick<Enrolled, 'device'>,
  body: ApprovalBody = {},
) {
  const webauthnAssertion = await signatureOverRequest(client, id, { device }, body)
  return client.cardRequests.approve({ params: { id }, body: { ...body, webauthnAssertion } })
}

export const challengeOfRequest = async (client: TestClient, id: string, body: ApprovalBody = {}) =>
  linkedChallenge(client, await client.cardRequests.approve({ params: { id }, body }))

export const signatureOverRequest = async (
  client: TestClient,
  id: string,
  { device }: Pick<Enrolled, 'device'>,
  body: ApprovalBody = {},
) => signed(await challengeOfRequest(client, id, body), device)

/** An owner and two approvers, or as many, each with a passkey; and an agent whose policy has these steps. */
export async function cardApprovers(
  service: Pick<TestService, 'owner' | 'sql' | 'url'>,
  approval: Step[] | ((team: readonly Enrolled[]) => Step[]),
  size = 2,
) {
  const owner = await service.owner()
  const { client } = owner
  const boss = await enrolled(service, owner, { name: 'Ada' })
  const team = [boss]
  for (let n = 0; n < size; n++) team.push(await enrolled(service, owner, { role: 'approver', by: boss }))
  const [, first, second] = team as [Enrolled, Enrolled, Enrolled]
  const agent = await anAgentUnder(client, {
    approval: typeof approval === 'function' ? approval(team) : approval,
  })
  const ask = (members: Parameters<typeof aCardRequest>[2] = { limits: { monthlyLimitEuros: 50 } }) =>
    aCardRequest(client, agent.id, members)
  const approve = (id: string, person: Pick<Enrolled, 'device'>, body: ApprovalBody = {}) =>
    approveAs(client, id, person, body)
  const namesOf = async (id: string) => {
    const text = `select event from events where data ->> 'requestId' = $1 order by id`
    const events = await service.sql<{ event: string }>(text, [id])
    return events.map(({ event }) => event.replace('card_limit_request.', ''))
  }
  const pass = (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } }))
  const read = (id: string) => getRequest(client, id)
  return { ...owner, boss, first, second, team, agent, ask, approve, namesOf, pass, read }
}
