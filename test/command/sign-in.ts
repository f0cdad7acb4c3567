import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { runCommand, runProgram } from '../support/command.ts'
import { aKey, bodyOf } from '../support/factories.ts'
import { aConfiguration } from '../support/identity/key-files.ts'
import { approvePairing } from '../support/identity/pairing.ts'
import { signed } from '../support/identity/people.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { until } from '../support/until.ts'
import { aNewMachine, codeIn, login, service, signIn } from './new-machine.ts'

class OldUrl extends URL {
  static override parse(): never {
    throw new TypeError('URL.parse is not a function')
  }
}

describe('login', () => {
  test('keeps the key in a file that only the person reads, and shows it nowhere', async () => {
    const made = await aNewMachine()
    const { code, out, err, waits } = await signIn(made, ['--name', 'Ada’s laptop'])
    expect([code, waits]).toEqual([0, 2])
    expect(err).toMatch(/Continue only if it is: [B-Z]{4}-[B-Z]{4}/)
    expect(made.machine.modes()).toEqual(['600', '700'])
    const { current, profiles } = made.machine.read()
    const { key, keyId, ownerId } = profiles.default as NonNullable<(typeof profiles)[string]>
    expect([current, ownerId]).toEqual(['default', made.owner.ownerId])
    expect(out + err).not.toContain(key)
    expect((await bodyOf(made.owner.client.keys.get({ params: { id: keyId } }))).name).toBe('Ada’s laptop')
    const who = await runProgram(['whoami'], { env: made.machine.env })
    expect(JSON.parse(who.out)).toMatchObject({ ownerId, keyId, mode: 'test', signedInBy: 'profile default' })
    expect(who.out + who.err).not.toContain(key)
  })

  test('reports a denial by the person, and stores nothing', async () => {
    const made = await aNewMachine()
    const { client } = made.person.console
    const { code, err } = await login(made, [], pairing => client.cliAuth.deny({ body: { code: pairing } }))
    expect([code, err]).toEqual([1, expect.stringContaining('The sign-in was denied. (access_denied)')])
    expect(existsSync(made.machine.path)).toBe(false)
  })

  test.each([
    ['unless it is asked for', [], false],
    ['where it is asked for', ['--tool-writes'], true],
  ] as const)('gets a key that changes things by tools %s', async (_, argv, toolWrites) => {
    const made = await aNewMachine()
    expect((await signIn(made, argv)).code).toBe(0)
    const { keyId } = made.machine.read().profiles.default as { keyId: string }
    const key = await bodyOf(made.owner.client.keys.get({ params: { id: keyId } }))
    expect(key.toolWrites).toBe(toolWrites)
  })

  test('revokes the earlier key of the profile when the person signs in again, on an old Node, too', async () => {
    const made = await aNewMachine()
    await signIn(made)
    const first = made.machine.read().profiles.default
    // Temporal freezes `URL` in a process that has run workflows, so that no member of it can be replaced.
    const present = URL
    globalThis.URL = OldUrl
    try {
      expect(await signIn(made)).toMatchObject({ code: 0 })
    } finally {
      globalThis.URL = present
    }
    const second = made.machine.read().profiles.default
    expect(second?.keyId).not.toBe(first?.keyId)
    expect((await service.client(first?.key).agents.list()).status).toBe(401)
    expect((await service.client(second?.key).agents.list()).status).toBe(200)
  })

  test('revokes the earlier key of the profile also where it was of another address', async () => {
    const made = await aNewMachine()
    await signIn(made, ['--url', service.url])
    const first = made.machine.read().profiles.default
    await signIn(made, ['--url', service.url.replace('127.0.0.1', 'localhost')])
    const second = made.machine.read().profiles.default
    expect(new URL(second?.url ?? '').origin).not.toBe(new URL(first?.url ?? '').origin)
    expect((await service.client(first?.key).agents.list()).status).toBe(401)
    expect((await service.client(second?.key).agents.list()).status).toBe(200)
  })

  test('opens the browser that BROWSER names, at the page', async () => {
    const made = await aNewMachine()
    const folder = temporaryFolder()
    const [browser, seen] = [join(folder, 'browser'), join(folder, 'seen')]
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${seen}.new && mv ${seen}.new ${seen}\n`, {
      mode: 0o755,
    })
    let waits = 0
    const ran = await runCommand(['login'], {
      env: {
        ...made.machine.env,
        AGENTPAY_URL: service.url,
        BROWSER: browser,
        PATH: String(process.env.PATH),
      },
      wait: async () => {
        waits += 1
        if (waits > 1) return
        await until('the browser opens', () => existsSync(seen))
        const { client } = made.person.console
        await approvePairing(client, made.person.device, codeIn(readFileSync(seen, 'utf8')))
      },
    })
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('Your browser opens.')])
  })

  /** Runs `login` until its page is shown, and returns what it says. */
  async function shownBy(env: Record<string, string>, argv: readonly string[] = []): Promise<string> {
    const { err } = await runCommand(['login', '--no-browser', ...argv], {
      env: { ...aConfiguration().env, ...env },
      wait: async () => {
        await service.sql(`update sessions set status = 'void', ended_at = now() where status = 'pending'`)
      },
    })
    return err
  }

  const OWNERS_LINK = /\/login\?to=%2Fcli%2F\w{43}#lnk_\w{43}/

  test('shows a link that signs an owner in where the data folder of a sandbox is at hand', async () => {
    const { key, ownerId } = await service.owner()
    const { dashboardSecret } = service
    const instance = { url: service.url, apiKey: key, ownerId, dashboardSecret }
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'instance.json'), JSON.stringify(instance))
    expect(await shownBy({ DATA_DIR: folder })).toMatch(OWNERS_LINK)
    expect(await service.sql('select 1 from person_links where owner_id = $1', [ownerId])).toHaveLength(1)
  })

  test('shows such a link with the dashboard secret and a test key, and none with a key alone', async () => {
    const { key, client, ownerId } = await service.owner()
    const env = { DATA_DIR: temporaryFolder(), AGENTPAY_URL: service.url, AGENTPAY_KEY: key }
    const secret = { AGENTPAY_DASHBOARD_SECRET: service.dashboardSecret }
    expect(await shownBy({ ...env, ...secret })).toMatch(OWNERS_LINK)
    expect(await shownBy(env)).toMatch(/\/cli\/\w{43}\n/)
    expect(await shownBy(env)).not.toContain('lnk_')
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [ownerId])
    const refused = await shownBy({ ...env, ...secret })
    expect(refused).toContain('There is no sign-in link: The owner is verified')
    expect(refused).toContain('POST /console/links')
    expect(refused).toMatch(/\/cli\/\w{43}\n/)
    expect(refused).not.toContain('lnk_')
    const { key: live } = await aKey(client, { environment: 'live' })
    expect(await shownBy({ ...env, ...secret, AGENTPAY_KEY: String(live) })).not.toContain('lnk_')
  })

  /** A service of someone else: passes everything on to the real one, and keeps the headers that it got. */
  async function aForeignService() {
    const headers: string[] = []
    const server = createServer((request, response) => {
      headers.push(...request.rawHeaders)
      void passOn(request, response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    server.unref()
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers }
  }

  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const answer = await fetch(service.url + request.url, {
      method: String(request.method),
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body }),
    })
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
  }

  test.each([
    ['AGENTPAY_URL names another address', { AGENTPAY_URL: service.url }],
    ['AGENTPAY_URL is not set', {}],
  ])('keeps key and dashboard secret from the address of --url where %s', async (reason, address) => {
    const { key } = await service.owner()
    const foreign = await aForeignService()
    const credentials = { AGENTPAY_KEY: key, AGENTPAY_DASHBOARD_SECRET: service.dashboardSecret }
    const shown = await shownBy({ ...address, ...credentials }, ['--url', foreign.url])
    expect(shown).toContain(
      `are not sent to ${foreign.url}: ${reason}. If they are of this service, set AGENTPAY_URL=`,
    )
    expect(shown).toMatch(/\/cli\/\w{43}\n/)
    expect(foreign.headers.length).toBeGreaterThan(0)
    for (const secret of [key, service.dashboardSecret])
      expect(foreign.headers.join('\n')).not.toContain(secret)
  })

  test('requires an address, and refuses an unencrypted one', async () => {
    const { env } = aConfiguration()
    expect(await runCommand(['login'], { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('agentpay login --url'),
    })
    expect(await runCommand(['login', '--url', 'http://pay.example.com'], { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not encrypted'),
    })
    expect((await runCommand(['login', '--profile', '../x', '--url', service.url], { env })).code).toBe(2)
  })
})

describe('login --device', () => {
  test('shows the user code, polls at the requested interval, and gets a key', async () => {
    const { owner, person, machine } = await aNewMachine()
    const { client } = person.console
    let shown = ''
    const waits: number[] = []
    const ran = await runCommand(['login', '--device', '--name', 'A server'], {
      env: { ...machine.env, AGENTPAY_URL: service.url },
      onError: text => {
        shown += text
      },
      wait: async milliseconds => {
        if (waits.push(milliseconds) !== 4) return
        const userCode = /type this code: (\S+)/.exec(shown)?.[1]?.toLowerCase().replace('-', '') ?? ''
        await bodyOf(client.sessions.lookup({ body: { userCode } }))
        const challenge = await bodyOf(client.sessions.challenge({ body: { userCode } }))
        const webauthnAssertion = signed(challenge, person.device)
        await bodyOf(client.sessions.verify({ body: { userCode, webauthnAssertion } }))
      },
    })
    expect([ran.code, shown]).toEqual([0, expect.stringMatching(/\n {2}http\S+\/device\n/)])
    expect(waits[0]).toBe(5_000)
    expect(waits.at(-1)).toBeGreaterThan(5_000)
    const { key, ownerId } = machine.read().profiles.default as { key: string; ownerId: string }
    expect([ownerId, machine.modes()]).toEqual([owner.ownerId, ['600', '700']])
    expect((await service.client(key).agents.list()).status).toBe(200)
    expect(ran.out + ran.err).not.toContain(key)
  })
})

describe('profiles', () => {
  test('hold an account each, of which one counts, and another one where it is named', async () => {
    const [first, second] = [await aNewMachine(), await aNewMachine()]
    const { machine } = first
    await signIn(first)
    await signIn({ ...second, machine }, ['--profile', 'work'])
    const ownerOf = async (...argv: string[]) =>
      JSON.parse((await runCommand(['whoami', ...argv], { env: machine.env })).out).ownerId
    expect(await ownerOf()).toBe(second.owner.ownerId)
    expect(await ownerOf('--profile', 'default')).toBe(first.owner.ownerId)
    expect((await runCommand(['profiles', 'use', 'default'], { env: machine.env })).code).toBe(0)
    expect(await ownerOf()).toBe(first.owner.ownerId)
    const { out } = await runProgram(['profiles', 'list'], { env: machine.env })
    const { profiles } = machine.read()
    expect(JSON.parse(out)).toMatchObject([
      { name: 'default', current: true, ownerId: first.owner.ownerId },
      { name: 'work', current: false, ownerId: second.owner.ownerId },
    ])
    for (const { key } of Object.values(profiles)) expect(out).not.toContain(key)
    expect(await runCommand(['profiles', 'use', 'wrok'], { env: machine.env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean work?'),
    })
    expect((await runCommand(['agents', 'list', '--profile', 'other'], { env: machine.env })).code).toBe(2)
  })

  test('yield to the environment, and their keys never go to another address', async () => {
    const made = await aNewMachine()
    await signIn(made)
    const other = await service.owner()
    const by = { ...made.machine.env, AGENTPAY_KEY: other.key }
    expect(JSON.parse((await runCommand(['whoami'], { env: by })).out).ownerId).toBe(other.ownerId)
    const elsewhere = { ...made.machine.env, AGENTPAY_URL: service.url.replace('127.0.0.1', 'localhost') }
    expect(await runCommand(['whoami'], { env: elsewhere })).toMatchObject({ code: 3, out: '' })
  })

  test('that are signed in to at one instant are all kept', async () => {
    const made = await aNewMachine()
    const names = ['one', 'two', 'three']
    await Promise.all(names.map(name => signIn(made, ['--profile', name])))
    expect(Object.keys(made.machine.read().profiles).sort()).toEqual([...names].sort())
  })
})

describe('logout', () => {
  test('revokes the key and forgets it', async () => {
    const made = await aNewMachine()
    await signIn(made)
    const { key } = made.machine.read().profiles.default as { key: string }
    expect((await runProgram(['logout'], { env: made.machine.env })).code).toBe(0)
    expect((await service.client(key).agents.list()).status).toBe(401)
    expect(made.machine.read()).toEqual({ current: null, profiles: {} })
    expect((await runProgram(['logout'], { env: made.machine.env })).code).toBe(3)
  })

  test('forgets a key that is over, and keeps one that it could not revoke', async () => {
    const machine = aConfiguration()
    const profile = {
      url: service.url,
      key: 'sk_sandbox_overandoverandover',
      keyId: 'key_1',
      ownerId: 'customer_1',
    }
    const gone = { ...profile, url: 'http://127.0.0.1:1' }
    machine.write(JSON.stringify({ current: 'over', profiles: { over: profile, gone } }))
    expect((await runCommand(['logout'], { env: machine.env })).code).toBe(0)
    expect((await runCommand(['logout', '--profile', 'gone'], { env: machine.env })).code).toBe(4)
    expect(Object.keys(machine.read().profiles)).toEqual(['gone'])
    const argv = ['logout', '--profile', 'gone', '--forget-only']
    expect((await runCommand(argv, { env: machine.env })).code).toBe(0)
    expect(machine.read().profiles).toEqual({})
  })
})
