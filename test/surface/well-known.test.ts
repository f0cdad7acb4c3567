import { describe, expect, test } from '@jest/globals'
import { challengeOf, credentialFor } from '../support/commerce/machine-payer.ts'
import { sealTrail } from '../support/compliance/trail.ts'
import { anApprovedIntent, approvalsIn } from '../support/control/approvals.ts'
import { mandatesIn } from '../support/control/mandates.ts'
import { ofThree } from '../support/control/manipulated-proofs.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const service = await startTestService({ env: { SECURITY_CONTACT: 'mailto:security@example.com' } })
/** Without a security contact. */
const silent = await startTestService({ own: true })
const BANK = { SEPA_RAIL: 'files', COLLECTION_IBAN: 'DE89370400440532013000', FILES_COUNTRY: 'IE' }
const live = await startTestService({ own: true, env: { ...BANK, SEPA_FOLDER: temporaryFolder() } })
/** Settings that name rails, and lack what these need. */
const unfinished = await startTestService({
  own: true,
  env: { ...BANK, CARD_PROCESSOR: 'stripe', FUNDING_RAIL: 'stripe' },
})
const get = (path: string, init: RequestInit = {}) => fetch(`${service.url}/.well-known/${path}`, init)

const DOCUMENTS = [
  ['agent-payments', 'application/json; charset=utf-8'],
  ['api-catalog', 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
  ['oauth-authorization-server', 'application/json; charset=utf-8'],
  ['security.txt', 'text/plain; charset=utf-8'],
  ['jwks.json', 'application/json; charset=utf-8'],
  ['webauthn', 'application/json; charset=utf-8'],
] as const

describe('a well-known document', () => {
  test.each(DOCUMENTS)(
    '%s is only at the root, and answers 304 to conditional requests',
    async (name, type) => {
      const first = await get(name)
      const etag = String(first.headers.get('etag'))
      expect([first.status, first.headers.get('content-type'), etag]).toEqual([
        200,
        type,
        expect.stringMatching(/^"[\w-]{22}"$/),
      ])
      expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
      const again = await get(name, { headers: { 'if-none-match': `W/${etag}` } })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
      expect((await fetch(`${service.url}/v1/.well-known/${name}`)).status).toBe(404)
    },
  )

  test('api-catalog answers HEAD with its Link, and every link of it leads somewhere', async () => {
    const head = await get('api-catalog', { method: 'HEAD' })
    expect([head.status, head.headers.get('link')]).toEqual([
      200,
      `<${service.url}/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"`,
    ])
    const { linkset } = (await (await get('api-catalog')).json()) as {
      linkset: Record<string, { href: string }[]>[]
    }
    const links = linkset.flatMap(({ anchor: _, ...relations }) => Object.values(relations).flat())
    expect(links).toHaveLength(5)
    for (const { href } of links) expect([href, (await fetch(href)).status]).toEqual([href, 200])
  })

  test('agent-payments says which rails serve live mode, and where data is kept', async () => {
    const none = {
      sepaOut: null,
      sepaIn: null,
      cards: null,
      machinePayments: null,
      acquirer: null,
      paymentMethods: null,
      identityVerification: 'sandbox',
    }
    const rails = { ...none, sepaOut: 'files', sepaIn: 'bank_account', identityVerification: 'manual' }
    for (const [url, expected] of [
      [service.url, none],
      [live.url, rails],
      [unfinished.url, { ...rails, sepaOut: null }],
    ] as const) {
      expect(await (await fetch(`${url}/.well-known/agent-payments`)).json()).toMatchObject({
        live: expected,
      })
      expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ live: expected })
    }
    expect(await (await fetch(`${live.url}/.well-known/agent-payments`)).json()).toMatchObject({
      dataCountries: { database: 'DE', temporal: 'DE', files: 'IE', mail: null },
    })
  })

  test('agent-payments names addresses that are there', async () => {
    const { documentation, openapi, authorization, publicKeys, status } = (await (
      await get('agent-payments')
    ).json()) as Record<string, string>
    for (const address of [documentation, openapi, authorization, publicKeys, status])
      expect([address, (await fetch(String(address))).status]).toEqual([address, 200])
  })

  test('oauth-authorization-server has the device and the pairing endpoints', async () => {
    const metadata = (await (await get('oauth-authorization-server')).json()) as Record<string, unknown>
    expect(metadata).toMatchObject({
      device_authorization_endpoint: `${service.url}/sessions/device`,
      pairing_endpoint: `${service.url}/cli/auth/start`,
      code_challenge_methods_supported: ['S256'],
    })
  })

  test('security.txt ends ahead of now, and in less than a year', async () => {
    const text = await (await get('security.txt')).text()
    expect(text).toContain('Contact: mailto:security@example.com\n')
    const ahead = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '') - Date.now()
    expect(ahead).toBeGreaterThan(86_400_000 * 30)
    expect(ahead).toBeLessThan(86_400_000 * 365)
  })
})

describe('what an installation has signed', () => {
  const ask = (statement: string) => bodyOf(service.client().wellKnown.verify({ body: { statement } }))

  async function aReceipt(): Promise<string> {
    const url = `${service.url}/simulate/mpp/paid`
    const authorization = credentialFor(await challengeOf(url))
    return String((await fetch(url, { headers: { authorization } })).headers.get('payment-receipt'))
  }

  test('is known for a receipt of ours, and is not once a member of it was changed', async () => {
    const receipt = await aReceipt()
    expect(await ask(receipt)).toEqual({ valid: true, kind: 'receipt', reason: null })
    const { proof, ...members } = JSON.parse(Buffer.from(receipt, 'base64url').toString())
    expect(await ask(proof)).toEqual({ valid: true, kind: 'receipt', reason: null })
    const changed = Buffer.from(JSON.stringify({ ...members, reference: 'another', proof })).toString(
      'base64url',
    )
    expect(await ask(changed)).toEqual({
      valid: false,
      kind: 'receipt',
      reason: 'The receipt differs from its proof.',
    })
    const [header, claims, signature] = proof.split('.')
    const other = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), amount: '1' }),
    ).toString('base64url')
    expect(await ask([header, other, signature].join('.'))).toMatchObject({ valid: false, kind: 'receipt' })
  })

  test('is known for a mandate while it is in force', async () => {
    const { anOwnerWithAgent, aMandate } = mandatesIn(service, service.url)
    const owner = await anOwnerWithAgent()
    const { id, jws } = await aMandate(owner, { totalEuros: 50 })
    expect(await ask(jws)).toEqual({ valid: true, kind: 'mandate', reason: null })
    await bodyOf(owner.client.mandates.suspend({ params: { id }, body: {} }))
    expect((await ask(jws)).reason).toBe('The mandate is suspended.')
    await bodyOf(owner.client.mandates.revoke({ params: { id }, body: {} }))
    expect(await ask(jws)).toEqual({ valid: false, kind: 'mandate', reason: 'The mandate was revoked.' })
  })

  test('is known for the proof of an approval', async () => {
    const { client, agent, person } = await approvalsIn(service).anApprover()
    const { id } = await anApprovedIntent(client, agent.id, person)
    const { jws } = await bodyOf(client.intents.approval({ params: { id } }))
    expect(await ask(jws)).toEqual({ valid: true, kind: 'approval', reason: null })
  })

  test('knows the kind of a proof of several approvals, and refuses that of another installation', async () => {
    expect(await ask(ofThree.jws)).toEqual({
      valid: false,
      kind: 'approval',
      reason: expect.stringMatching(/^No key of this installation has signed it/),
    })
  })

  test('is known for the checkpoint of a trail, and not once a digit of it was changed', async () => {
    const { client } = await service.owner()
    await sealTrail(service)
    const { note } = await bodyOf(client.audit.checkpoint())
    expect(await ask(note)).toEqual({ valid: true, kind: 'checkpoint', reason: null })
    const changed = note.replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) + 1}\n`)
    expect(await ask(changed)).toMatchObject({ valid: false, kind: 'checkpoint' })
    expect(await ask('a\nb\nc')).toMatchObject({ valid: false, kind: 'checkpoint' })
  })

  test('stays known after the signing key was replaced', async () => {
    const receipt = await aReceipt()
    await bodyOf(service.dash.signingKeys.rotate())
    expect((await ask(receipt)).valid).toBe(true)
  })

  test.each([
    'x',
    'a.b.c',
    '..',
    'eyJ0eXAiOiJjb25zdHJ1Y3RvciJ9.e30.AA',
    'e30',
    Buffer.from('{"proof":7}').toString('base64url'),
  ])('is nothing of the kind for %s', async statement => {
    expect(await ask(statement)).toMatchObject({
      valid: false,
      kind: null,
      reason: expect.stringMatching(/\.$/),
    })
  })
})

test('security.txt is missing without a contact', async () => {
  const answer = await fetch(`${silent.url}/.well-known/security.txt`)
  expect([answer.status, answer.headers.get('x-error-code')]).toEqual([404, 'no_security_contact'])
})
