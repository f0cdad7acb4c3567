import { randomUUID } from 'node:crypto'
import { linkedChallengeId } from '../../../src/values/challenge-link.ts'
import type { HttpResponse, TestService } from '../harness.ts'
import { Authenticator } from '../identity/authenticator.ts'
import { signInWith } from '../identity/console.ts'
import { aPerson, originOf } from '../identity/people.ts'

export type Make = (method: string, path: string, body?: object) => Promise<HttpResponse['body']>

export type WorldService = Pick<TestService, 'sql' | 'url' | 'databaseUrl'>

type Begun = { readonly challengeId: string; readonly options: Parameters<Authenticator['register']>[0] }

/** The device of each account's first owner, which signs what needs a passkey. */
const devices = new Map<string, Promise<Authenticator>>()

export async function firstDevice(make: Make, service: WorldService): Promise<Authenticator> {
  const { id: ownerId } = await make('GET', '/customers/me')
  const known = devices.get(ownerId) ?? enrolFirst(make, service, ownerId)
  devices.set(ownerId, known)
  return known
}

async function enrolFirst(make: Make, service: WorldService, ownerId: string): Promise<Authenticator> {
  const { id: personId } = await aPerson(service, { ownerId })
  const device = new Authenticator({ origin: originOf(service) })
  await register(make, device, await make('POST', '/passkeys/register/options', { personId }))
  return device
}

const register = (make: Make, device: Authenticator, { challengeId, options }: Begun) =>
  make('POST', '/passkeys/register/verify', { challengeId, registration: device.register(options) })

async function assertion(make: Make, service: WorldService, body: object) {
  const device = await firstDevice(make, service)
  const { challengeId, options } = await make('POST', '/passkeys/challenge', body)
  return { challengeId, assertion: device.assert(options) }
}

export const aWorldConsent = (make: Make, service: WorldService, subject: object) =>
  assertion(make, service, { purpose: 'invitation', subject })

export async function anInvited(make: Make, service: WorldService) {
  return make(
    'POST',
    '/people',
    await anInvitation({ name: 'Grace Hopper', role: 'viewer' })(make, '', service),
  )
}

export const anInvitation =
  (members: { readonly name: string; readonly role: string }) =>
  async (make: Make, _path: string, service: WorldService) => {
    const person = { ...members, email: `${randomUUID()}@example.com` }
    return {
      ...person,
      webauthnAssertion: await assertion(make, service, { purpose: 'invitation', subject: person }),
    }
  }

export async function aLinkOf(make: Make, path: string, service: WorldService) {
  const subject = { personId: path.split('/').at(-2) }
  return { webauthnAssertion: await assertion(make, service, { purpose: 'invitation', subject }) }
}

export async function aDeletion(make: Make, _path: string, service: WorldService) {
  const { id } = await make('POST', '/beneficiaries', {
    name: 'Ada Lovelace',
    iban: 'DE89370400440532013000',
  })
  const subject = { type: 'beneficiary', id }
  return { subject, webauthnAssertion: await assertion(make, service, { purpose: 'deletion', subject }) }
}

/** The signature over the challenge that the refusal of this request links to. */
export async function overLinked(make: Make, device: Authenticator, path: string, body: object) {
  const { headers }: HttpResponse = await make('POST', path, body).catch(({ cause }: Error) => cause)
  const id = linkedChallengeId(headers.get('link'))
  const { challengeId, options } = await make('GET', `/passkeys/challenges/${id}`)
  return { challengeId, assertion: device.assert(options) }
}

/** An approver whom an approver names as deputy, with an owner's signature over the challenge of the refusal. */
export async function aDeputy(make: Make, path: string, service: WorldService) {
  const { id: ownerId } = await make('GET', '/customers/me')
  const device = await firstDevice(make, service)
  const { id: deputyId } = await aPerson(service, { ownerId }, { role: 'approver' })
  const joined = `update people set status = 'active', role = 'approver', joined_at = now() where id = $1`
  await service.sql(joined, [path.split('/').at(-2)])
  const named = { deputyId, from: new Date().toISOString(), until: inThirtyDays() }
  return { ...named, webauthnAssertion: await overLinked(make, device, path, named) }
}

export async function aSignInLink(make: Make, _path: string, service: WorldService) {
  const { id: personId } = await anInvited(make, service)
  return { personId, ...(await aLinkOf(make, `/people/${personId}/link`, service)) }
}

export async function anEnrolment(make: Make, _path: string, service: WorldService) {
  const { id: ownerId } = await make('GET', '/customers/me')
  const { id: personId } = await aPerson(service, { ownerId })
  const webauthnAssertion = await assertion(make, service, { purpose: 'enrolment', subject: personId })
  return { personId, webauthnAssertion }
}

async function begin(make: Make, service: WorldService) {
  const begun: Begun = await make('POST', '/passkeys/register/options', await anEnrolment(make, '', service))
  return { begun, device: new Authenticator({ origin: originOf(service) }) }
}

export async function aRegistration(make: Make, _path: string, service: WorldService) {
  const { device, begun } = await begin(make, service)
  return { challengeId: begun.challengeId, registration: device.register(begun.options) }
}

export async function aPasskey(make: Make, service: WorldService): Promise<string> {
  const { device, begun } = await begin(make, service)
  return (await register(make, device, begun)).id
}

export async function aSignIn(make: Make, _path: string, service: WorldService) {
  const device = await firstDevice(make, service)
  return signInWith(service.url, device)
}

export async function aRevocation(make: Make, path: string, service: WorldService) {
  const subject = path.split('/').at(-1)
  return { webauthnAssertion: await assertion(make, service, { purpose: 'revocation', subject }) }
}

export async function anApproval(make: Make, path: string, service: WorldService): Promise<void> {
  const id = path.split('/').at(-2)
  const device = await firstDevice(make, service)
  const { challengeId, options } = await make('POST', `/passkeys/intents/${id}/challenge`, {})
  const webauthnAssertion = { challengeId, assertion: device.assert(options) }
  await make('POST', `/intents/${id}/approve`, { webauthnAssertion })
}

export async function aSignedMandate(make: Make, _path: string, service: WorldService) {
  const { id: agentId } = await make('POST', '/agents', { name: 'Shopper' })
  const device = await firstDevice(make, service)
  const mandate = { agentId, constraints: { totalEuros: 100 }, expiresAt: inThirtyDays() }
  const { challengeId, options } = await make('POST', '/mandates/options', mandate)
  return { name: 'Books', ...mandate, webauthnAssertion: { challengeId, assertion: device.assert(options) } }
}

export const inThirtyDays = (): string => new Date(Date.now() + 30 * 86_400_000).toISOString()
