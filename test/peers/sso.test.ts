import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { afterAll, expect, test } from '@jest/globals'
import { begin, codeIn, finish, service } from '../identity/sso/sso-service.ts'
import { bodyOf } from '../support/factories.ts'

const PASSWORD = 'correct horse battery staple'
const CLIENT = { id: 'agent-payments', secret: 'the secret of the client' }

const people = [
  { email: 'grace@example.com', password: PASSWORD, verified: true, groups: ['staff', 'payments'] },
  { email: 'ada@example.com', password: PASSWORD, verified: false, groups: ['staff'] },
]

let peer: ChildProcessByStdio<Writable, Readable, null> | undefined
afterAll(() => {
  peer?.stdin.end()
})

/** Dex, the identity provider in Go, with its own passwords. `register` makes the service its client. */
async function dex() {
  peer = spawn('go', ['run', '-C', 'test/peers/dex', '.'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]()
  const send = async (line: object): Promise<string> => {
    peer?.stdin.write(`${JSON.stringify(line)}\n`)
    return String((await lines.next()).value)
  }
  const issuer = await send(people)
  return { issuer, register: (redirectUri: string) => send({ ...CLIENT, redirectURIs: [redirectUri] }) }
}

/** The person follows the redirects of Dex to its form, sends it, and is sent back. */
async function signInAt(address: string, login: string): Promise<URL> {
  const form = await fetch(address)
  const fields = new URLSearchParams({ login, password: PASSWORD })
  let answer = await fetch(form.url, { method: 'POST', body: fields, redirect: 'manual' })
  for (let hops = 0; hops < 5; hops++) {
    const next = new URL(String(answer.headers.get('location')), form.url)
    if (next.pathname.endsWith('/callback') && next.searchParams.has('state')) return next
    answer = await fetch(next, { redirect: 'manual' })
  }
  throw new Error(`Dex does not send the browser back: ${answer.status} ${await answer.text()}`)
}

test('Dex signs in an invited person, whose group gives the role, and no one with an unverified email', async () => {
  const { issuer, register } = await dex()
  const { client } = await service.owner()
  const { id, redirectUri } = await bodyOf(
    client.sso.create({
      body: {
        name: 'Dex',
        issuer,
        clientId: CLIENT.id,
        clientSecret: CLIENT.secret,
        approverGroups: ['payments'],
      },
    }),
  )
  expect(await register(redirectUri)).toBe(CLIENT.id)
  for (const { email } of people)
    await bodyOf(client.people.create({ body: { name: email, email, role: 'viewer' } }))
  const signIn = async (email: string) => {
    const begun = await begin(id)
    const back = await signInAt(begun.redirectTo, email)
    expect(back.origin + back.pathname).toBe(redirectUri)
    const [code, state] = ['code', 'state'].map(name => back.searchParams.get(name))
    return finish(id, { code, state }, begun)
  }
  expect((await signIn('grace@example.com')).body).toMatchObject({ kind: 'join', role: 'approver' })
  expect((await signIn('grace@example.com')).body).toMatchObject({ kind: 'sign_in', role: 'approver' })
  expect(codeIn(await signIn('ada@example.com'))).toEqual([403, 'not_invited'])
}, 600_000)
