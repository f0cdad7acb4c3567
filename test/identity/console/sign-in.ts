import { describe, expect, test } from '@jest/globals'
import { approvalsIn, signatureOver } from '../../support/control/approvals.ts'
import { anIntent } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import {
  FROM_OUR_PAGE,
  firstPerson,
  redeem,
  signedInBy,
  signedInTo,
  signIn,
  signInWith,
} from '../../support/identity/console.ts'
import { assertion, enrol, enrolled, originOf } from '../../support/identity/people.ts'
import { traceOf } from '../../support/trace.ts'
import { otherProcessUrl, service } from './console-service.ts'

const { url } = service

describe('signing in with a passkey', () => {
  test('begins a session of its person, by the role, in the account that it belongs to', async () => {
    const owner = await service.owner()
    const { device, personId, passkeyId } = await enrolled(service, owner)
    const answer = await signIn(url, await signInWith(url, device))
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { personId, passkeyId, ownerId: owner.ownerId, mode: 'test', role: 'owner', isCurrent: true },
    ])
    expect(await traceOf(service, answer)).toMatchObject({ events: ['console.signed_in'] })
    expect((await signedInBy(url, answer).client.agents.list()).status).toBe(200)
  })

  test('takes a challenge once, also at one instant', async () => {
    const { device } = await enrolled(service, await service.owner())
    const body = await signInWith(url, device)
    const answers = await Promise.all([signIn(url, body), signIn(url, body)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
    expect(answers.flatMap(({ headers }) => headers.get('x-error-code') ?? [])).toEqual(['challenge_used'])
  })

  test('is refused for an unknown passkey, and without user verification', async () => {
    const { device } = await enrolled(service, await service.owner())
    const stranger = new Authenticator({ origin: originOf(service) })
    stranger.register(await enrolmentOptions())
    for (const body of [
      await signInWith(url, stranger),
      await signInWith(url, device, { isVerified: false }),
    ]) {
      const { status, headers } = await signIn(url, body)
      expect([status, headers.get('x-error-code'), headers.get('set-cookie')]).toEqual([
        401,
        'assertion_invalid',
        null,
      ])
    }
  })

  test('is refused to another page, and the challenge is still there for ours', async () => {
    const { device } = await enrolled(service, await service.owner())
    const body = await signInWith(url, device)
    const foreign = await signIn(url, body, { 'sec-fetch-site': 'cross-site' })
    expect([foreign.status, foreign.headers.get('x-error-code')]).toEqual([403, 'cross_site'])
    expect((await signIn(url, body)).status).toBe(201)
  })

  test('is over with the passkey: the sessions that it began end in every process, others go on', async () => {
    const owner = await service.owner()
    const first = await enrolled(service, owner)
    const second = new Authenticator({ origin: originOf(service) })
    const secondId = await enrol(owner.client, first.personId, second, first)
    const bySecond = signedInBy(url, await signIn(url, await signInWith(url, second)))
    const byFirst = signedInBy(url, await signIn(url, await signInWith(url, first.device)))
    const webauthnAssertion = await assertion(owner.client, first, {
      purpose: 'revocation',
      subject: secondId,
    })
    const revoked = await owner.client.passkeys.revoke({
      params: { id: secondId },
      body: { webauthnAssertion },
    })
    expect([revoked.status, await traceOf(service, revoked)]).toMatchObject([
      204,
      { events: ['passkey.revoked', 'console.signed_out'] },
    ])
    expect((await bySecond.client.console.session()).status).toBe(401)
    expect((await byFirst.client.console.session()).status).toBe(200)
  })
})

describe('wrong signatures of a stranger who knows the credential', () => {
  const from = (address: string) => ({ ...FROM_OUR_PAGE, 'x-forwarded-for': address })

  test('are refused after ten in all processes, and its owner signs in and approves from elsewhere', async () => {
    const { client, agent, person } = await approvalsIn(service).anApprover()
    const { device } = person
    const answers = []
    for (let n = 0; n < 20; n++) {
      const at = n % 2 === 0 ? url : otherProcessUrl
      const body = await signInWith(url, device, { isVerified: false })
      answers.push(await signIn(at, body, from('203.0.113.7')))
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), ...Array(10).fill(429)])
    const waits = answers.slice(10).map(({ headers }) => Number(headers.get('retry-after')))
    expect(waits.every(seconds => seconds > 0 && seconds <= 600)).toBe(true)
    const passkeys = (await client.passkeys.list()).body.data
    expect(passkeys).toMatchObject([{ blockedUntil: null }])
    expect((await signIn(url, await signInWith(url, device), from('198.51.100.4'))).status).toBe(201)
    // A valid signature works from the guesser's address, too: people share addresses.
    expect((await signIn(url, await signInWith(url, device), from('203.0.113.7'))).status).toBe(201)
    const { id } = await anIntent(client, agent.id)
    const webauthnAssertion = await signatureOver(client, id, person)
    expect((await client.intents.approve({ params: { id }, body: { webauthnAssertion } })).status).toBe(200)
  })
})

describe('a link, once the account has had a passkey,', () => {
  test('takes the consent of an owner to this person', async () => {
    const owner = await service.owner()
    const first = await enrolled(service, owner)
    const { personId } = await signedInTo(service, owner, { role: 'viewer' })
    const { client } = owner
    expect(await client.console.createLink({ body: { personId } })).toMatchObject({
      status: 400,
      code: 'assertion_required',
    })
    const consent = (subject: object) =>
      assertion(client, first, { purpose: 'invitation', subject: subject as never })
    const other = await consent({ personId: first.personId })
    expect(await client.console.createLink({ body: { personId, webauthnAssertion: other } })).toMatchObject({
      code: 'statement_outdated',
    })
    const own = await consent({ personId })
    const { body } = await client.console.createLink({ body: { personId, webauthnAssertion: own } })
    expect((await redeem(url, body.url)).body).toMatchObject({ personId, kind: 'sign_in' })
  })
})

/** As a foreign site would request a passkey. */
async function enrolmentOptions() {
  const owner = await service.owner()
  const { personId } = await firstPerson(url, owner.client)
  return (await owner.client.passkeys.registerOptions({ body: { personId } })).body.options
}
