import type { areas } from '../../../src/areas.ts'
import type { Client } from '../../../src/derive/client.ts'
import type { PersonRole } from '../../../src/kernel/contract/scopes.ts'
import { linkedChallengeId } from '../../../src/values/challenge-link.ts'
import { bodyOf } from '../factories.ts'
import type { Owner, TestService } from '../harness.ts'
import { Authenticator, type AuthenticatorAlgorithm, type Manner } from './authenticator.ts'

type TestClient = Client<typeof areas>

export const originOf = ({ url }: { readonly url: string }): string => url.replace('127.0.0.1', 'localhost')

export async function pagesOrigin({ url }: Pick<TestService, 'url'>): Promise<string> {
  const answer = await fetch(`${url}/.well-known/webauthn`)
  const { origins } = (await answer.json()) as { origins: [string] }
  return origins[0]
}

export interface Enrolled {
  readonly personId: string
  readonly passkeyId: string
  readonly name: string
  readonly device: Authenticator
  readonly owner: Owner<typeof areas>
}

interface EnrolledMembers {
  readonly role?: PersonRole
  readonly name?: string
  readonly algorithm?: AuthenticatorAlgorithm
  /** An owner who has a passkey already, needed for all but the first. */
  readonly by?: Enrolled
}

const JOIN = `update people set status = 'active', joined_at = now() where owner_id = $1 and id = $2`

let people = 0

export async function aPerson(
  service: Pick<TestService, 'sql'>,
  owner: Pick<Owner<typeof areas>, 'ownerId'>,
  { role = 'owner', name = `Person ${++people}` }: Pick<EnrolledMembers, 'role' | 'name'> = {},
): Promise<{ id: string; name: string }> {
  const id = `person_${String(++people).padStart(26, '0')}`
  await service.sql(
    `insert into people (owner_id, mode, id, created_at, updated_at, name, role, status)
     values ($1, 'test', $2, now(), now(), $3, $4, 'invited')`,
    [owner.ownerId, id, name, role],
  )
  await service.sql(JOIN, [owner.ownerId, id])
  return { id, name }
}

export async function enrolled(
  service: Pick<TestService, 'sql' | 'url'>,
  owner: Owner<typeof areas>,
  { by, algorithm, ...members }: EnrolledMembers = {},
): Promise<Enrolled> {
  const person = await aPerson(service, owner, members)
  const origin = await pagesOrigin(service)
  const device = new Authenticator({ origin, ...(algorithm ? { algorithm } : {}) })
  const passkeyId = await enrol(owner.client, person.id, device, by)
  return { personId: person.id, passkeyId, name: person.name, device, owner }
}

/** Enrols a device for a person, confirmed by an existing passkey if there is one; returns the passkey's id. */
export async function enrol(
  client: TestClient,
  personId: string,
  device: Authenticator,
  by?: Pick<Enrolled, 'device'>,
): Promise<string> {
  const asserted = by && (await assertion(client, by, { purpose: 'enrolment', subject: personId }))
  const body = asserted ? { personId, webauthnAssertion: asserted } : { personId }
  const { challengeId, options } = await bodyOf(client.passkeys.registerOptions({ body }))
  const registration = device.register(options)
  return (
    await bodyOf(client.passkeys.registerVerify({ body: { challengeId, name: 'Phone', registration } }))
  ).id
}

type ChallengeBody = NonNullable<Parameters<TestClient['passkeys']['challenge']>[0]>['body']

/** A person's signature for a purpose, sent as `webauthnAssertion`. */
export async function assertion(
  client: TestClient,
  { device }: Pick<Enrolled, 'device'>,
  body: ChallengeBody,
  manner: Manner = {},
) {
  return signed(await bodyOf(client.passkeys.challenge({ body })), device, manner)
}

/** The challenge that a refusal links to, read by the caller who was refused. */
export const linkedChallenge = (
  client: TestClient,
  { headers }: { readonly headers: { get(name: string): string | null } },
) =>
  bodyOf(client.passkeys.getChallenge({ params: { id: linkedChallengeId(headers.get('link')) ?? 'none' } }))

export const signed = (
  { challengeId, options }: { challengeId: string; options: { challenge: string; rpId: string } },
  device: Authenticator,
  manner: Manner = {},
) => ({ challengeId, assertion: device.assert(options, manner) })
