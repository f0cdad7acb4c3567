import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { aDoorkeeper, approvePairing, aTerminal, s256 } from '../../support/identity/pairing.ts'
import { signed } from '../../support/identity/people.ts'
import { traceOf } from '../../support/trace.ts'
import {
  anApprovedTerminal,
  anyone,
  ask,
  aWaitingTerminal,
  expire,
  otherProcess,
  service,
} from './service.ts'

const refusal = (code: string) => ({ error: code, code, status: 400 })

describe('a code', () => {
  test('is invalid after a wrong verifier, before and after an approval', async () => {
    for (const make of [aWaitingTerminal, anApprovedTerminal]) {
      const { terminal, person } = await make()
      const other = await aTerminal(anyone)
      const foreign = await ask({ code: terminal.code, codeVerifier: other.codeVerifier })
      expect(foreign).toMatchObject(refusal('invalid_grant'))
      expect(await traceOf(service, foreign)).toMatchObject({ events: ['cli.failed'] })
      expect(await ask(terminal)).toMatchObject(refusal('invalid_grant'))
      expect(await person.console.client.cliAuth.challenge({ body: { code: terminal.code } })).toMatchObject({
        status: expect.any(Number),
        code: expect.stringMatching(/^pairing_(decided|not_found)$/),
      })
    }
  })

  test('serves no verifier that is sent as its own challenge, as the method plain would', async () => {
    const { person, terminal } = await aWaitingTerminal()
    await bodyOf(approvePairing(person.console.client, person.device, terminal.code))
    const plain = s256(terminal.codeVerifier)
    expect(await ask({ code: terminal.code, codeVerifier: plain })).toMatchObject(refusal('invalid_grant'))
    expect(await ask(terminal)).toMatchObject(refusal('invalid_grant'))
    const body = { codeChallenge: plain, deviceName: 'Old', codeChallengeMethod: 'plain' }
    const { status } = await service.http('POST', '/cli/auth/start', { body })
    expect(status).toBe(400)
  })

  test('is refused like an invalid one if it is unknown', async () => {
    const { codeVerifier } = await aTerminal(anyone)
    expect(await ask({ code: 'x'.repeat(43), codeVerifier })).toMatchObject(refusal('invalid_grant'))
  })

  test('ends after five minutes, for the terminal and for the person', async () => {
    const { person, terminal } = await aWaitingTerminal()
    await expire(terminal)
    expect(await ask(terminal)).toMatchObject(refusal('expired_token'))
    const { client } = person.console
    for (const answer of [
      await client.cliAuth.challenge({ body: { code: terminal.code } }),
      await client.cliAuth.deny({ body: { code: terminal.code } }),
    ])
      expect(answer).toMatchObject({ status: 410, code: 'pairing_expired' })
  })

  test('reports a denial to the terminal, and can be decided only once', async () => {
    const { person, terminal } = await aWaitingTerminal()
    const { client } = person.console
    const denied = await client.cliAuth.deny({ body: { code: terminal.code } })
    expect(denied.body).toMatchObject({ status: 'denied', personId: person.personId })
    expect(await traceOf(service, denied)).toMatchObject({ events: ['cli.denied'] })
    expect(await ask(terminal)).toMatchObject(refusal('access_denied'))
    expect(await client.cliAuth.deny({ body: { code: terminal.code } })).toMatchObject({
      status: 400,
      code: 'pairing_decided',
    })
  })

  test('is approved and denied at one instant only one way, in two processes', async () => {
    const { person, terminal } = await aWaitingTerminal()
    const { client, headers } = person.console
    const challenge = await bodyOf(client.cliAuth.challenge({ body: { code: terminal.code } }))
    const webauthnAssertion = signed(challenge, person.device)
    const { code } = terminal
    const [approved, denied] = await Promise.all([
      client.cliAuth.approve({ body: { code, webauthnAssertion } }),
      fetch(`${otherProcess}/cli/auth/deny`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      }),
    ])
    expect([approved.status, denied.status].sort()).toEqual([200, 400])
    expect((await ask(terminal)).status).toBe(approved.status === 200 ? 201 : 400)
  })

  test('that another account has decided about is not shown to anybody else', async () => {
    const { terminal } = await anApprovedTerminal()
    const stranger = await aDoorkeeper(service, await service.owner())
    const { client, cookie } = stranger.console
    expect(await client.cliAuth.deny({ body: { code: terminal.code } })).toMatchObject({
      status: 404,
      code: 'pairing_not_found',
    })
    const page = await service.http('GET', `/cli/${terminal.code}`, {
      headers: { cookie, accept: 'text/html' },
    })
    expect([page.status, page.text.includes(terminal.pairingCode)]).toEqual([404, false])
    expect((await ask(terminal)).status).toBe(201)
  })
})

describe('an approval', () => {
  test('takes a passkey of the person of the session, over exactly this terminal', async () => {
    const { person, terminal, owner } = await aWaitingTerminal()
    const { client } = person.console
    const { code } = terminal
    expect(await client.cliAuth.approve({ body: { code } })).toMatchObject({ code: 'assertion_required' })
    const other = await aTerminal(anyone, 'Mallory’s laptop')
    const forOther = await bodyOf(client.cliAuth.challenge({ body: { code: other.code } }))
    expect(
      await client.cliAuth.approve({ body: { code, webauthnAssertion: signed(forOther, person.device) } }),
    ).toMatchObject({ code: 'statement_outdated' })
    const second = await aDoorkeeper(service, owner, { by: person })
    const forFirst = await bodyOf(client.cliAuth.challenge({ body: { code } }))
    expect(
      await client.cliAuth.approve({ body: { code, webauthnAssertion: signed(forFirst, second.device) } }),
    ).toMatchObject({ status: 401, code: 'assertion_invalid' })
    expect(await ask(terminal)).toMatchObject(refusal('authorization_pending'))
  })

  test('is refused with a key: only a person in the console can approve', async () => {
    const { owner, terminal } = await aWaitingTerminal()
    for (const path of ['/cli/auth/approve', '/cli/auth/deny', '/cli/auth/challenge']) {
      const answer = await service.http('POST', path, { token: owner.key, body: { code: terminal.code } })
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'wrong_caller'])
    }
  })
})

describe('a hundred terminals that wait at one address', () => {
  test('are all that may: of ten that begin at once where one has room, one does', async () => {
    await aTerminal(anyone)
    await service.sql(
      `insert into sessions (owner_id, mode, id, created_at, updated_at, kind, status, hash, code_challenge, pairing_code,
         device_name, client_type, client, interval_seconds, ends_at, forget_at)
       select owner_id, mode, id || n, created_at, updated_at, kind, status, hash || n, code_challenge, 'BCDF-GHJK',
         'Crowd', client_type, client, interval_seconds, ends_at, forget_at
       from (select * from sessions where status = 'pending' and ends_at > now() limit 1) one,
         generate_series(1, 99 - (select count(*) from sessions where status = 'pending' and ends_at > now())::int) n`,
    )
    const body = { codeChallenge: s256('v'.repeat(43)), deviceName: 'Late' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => anyone.cliAuth.start({ body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(429)])
    expect(answers.find(({ status }) => status === 429)?.code).toBe('too_many_waiting')
    await expire({ pairingCode: 'BCDF-GHJK' })
    expect((await anyone.cliAuth.start({ body })).status).toBe(201)
  })
})

test.each([
  ['of 10 kB', 'x'.repeat(10_000)],
  ['of nothing but spaces', '   '],
])('a device name %s is refused, and nothing is kept', async (_, deviceName) => {
  const body = { codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', deviceName }
  const answer = await service.http('POST', '/cli/auth/start', { body })
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^deviceName: /)])
})

test.each(['short', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c=', 'x'.repeat(44)])(
  'the challenge %s is a 400 that names it',
  async codeChallenge => {
    const answer = await service.http('POST', '/cli/auth/start', {
      body: { codeChallenge, deviceName: 'Old' },
    })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^codeChallenge: /)])
  },
)
