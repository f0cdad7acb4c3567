import type { areas } from '../../../src/areas.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import type { Owner, TestService } from '../harness.ts'
import { Authenticator } from './authenticator.ts'
import { signedInTo } from './console.ts'
import { aPerson, type Enrolled, enrol, linkedChallenge, originOf, signed } from './people.ts'

export interface InConsole extends Pick<Enrolled, 'personId' | 'name' | 'device'> {
  /** The session's cookie, from our own page. */
  readonly headers: Readonly<Record<string, string>>
  /** Calls with the session's cookie, from our own page. */
  readonly client: TestClient
}

type Role = 'owner' | 'approver' | 'viewer'

/** People with these roles, the first an owner, each with a passkey and a console session. */
export async function peopleInConsole(
  service: TestService,
  owner: Owner<typeof areas>,
  roles: readonly Role[],
): Promise<InConsole[]> {
  const people = await Promise.all(
    roles.map(async role => {
      const { id: personId, name } = await aPerson(service, owner, { role, name: `Ada the ${role}` })
      const { client, headers } = await signedInTo(service, owner, { personId })
      return { personId, name, client, headers, device: new Authenticator({ origin: originOf(service) }) }
    }),
  )
  const [first, ...others] = people
  if (!first) return []
  await enrol(owner.client, first.personId, first.device)
  for (const { personId, device } of others) await enrol(owner.client, personId, device, first)
  return people
}

const DAY_MS = 86_400_000

type Refused = Parameters<typeof linkedChallenge>[1]

/** Names a deputy in the console, from so many days on, for a week; with the approval of `by`, if the policy asks others as well. */
export async function nameDeputy(
  person: InConsole,
  { personId: deputyId }: InConsole,
  { inDays = 0, by }: { readonly inDays?: number; readonly by?: InConsole } = {},
) {
  const from = new Date(Date.now() + inDays * DAY_MS)
  const until = new Date(from.getTime() + 7 * DAY_MS)
  const body = { deputyId, from: from.toISOString(), until: until.toISOString() }
  const params = { id: person.personId }
  const signatureOver = async (refused: Refused, { client, device }: InConsole) =>
    signed(await linkedChallenge(client, refused), device)
  const webauthnAssertion = await signatureOver(await person.client.deputies.create({ params, body }), person)
  const named = await person.client.deputies.create({ params, body: { ...body, webauthnAssertion } })
  if (by) {
    const change = { params: { id: named.body.id } }
    const refused = await by.client.changeRequests.approve({ ...change, body: {} })
    const approval = { webauthnAssertion: await signatureOver(refused, by) }
    await bodyOf(by.client.changeRequests.approve({ ...change, body: approval }))
  }
  const [deputy] = (await bodyOf(person.client.deputies.list({ params }))).data
  if (!deputy) throw new Error(`no deputy was named: ${JSON.stringify(named)}`)
  return deputy
}
