import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { host } from '../../../../src/dev/host.mjs'
import { commandOf, processesIn } from '../../../../src/dev/processes/process-table.ts'
import { installedTemporal } from '../../../../src/dev/temporal/binary.ts'
import { type EmbeddedTemporal, startTemporal } from '../../../../src/dev/temporal/server.ts'
import { temporaryFolder } from '../../../support/processes/folders.ts'
import { type ListeningSocket, listeningSockets } from '../../../support/processes/listening.ts'
import { until } from '../../../support/until.ts'
import { useBrowser } from '../../../support/web/browser.ts'

const RUN = 'intent/waits'
const SIGNAL = `/namespaces/default/workflows/${encodeURIComponent(RUN)}/signal/approve`
const visit = useBrowser()

let temporal: EmbeddedTemporal
let connection: Connection
let sockets: ListeningSocket[]

beforeAll(async () => {
  const binary = (await installedTemporal({ env: process.env, tell: () => undefined })) ?? ''
  const dataDir = temporaryFolder()
  temporal = await startTemporal({ binary, dataDir, ports: { grpc: 0, ui: 0 }, durable: false })
  connection = await Connection.connect({ address: temporal.address })
  const server = processesIn(dataDir, 'start-dev').find(pid => commandOf(pid)?.program === 'temporal')
  sockets = listeningSockets(Number(server))
  await new Client({ connection }).workflow.start('idle', { workflowId: RUN, taskQueue: 'nobody' })
})

afterAll(async () => {
  await connection.close()
  await temporal.stop()
})

async function signalsOf(workflowId: string): Promise<string[]> {
  const { events } = await new Client({ connection }).workflow.getHandle(workflowId).fetchHistory()
  return (events ?? []).flatMap(event => event.workflowExecutionSignaledEventAttributes?.signalName ?? [])
}

/** The status of the answer; undefined if the connection is closed without one. */
function ask(to: ListeningSocket, path: string, headers: Record<string, string>, method = 'POST') {
  return new Promise<number | undefined>(resolve => {
    const outgoing = request({ ...to, path, method, headers, timeout: 60_000 }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    outgoing.on('error', () => resolve(undefined)).on('timeout', () => outgoing.destroy())
    outgoing.end(method === 'POST' ? '{}' : undefined)
  })
}

const socketOf = (url: string): ListeningSocket => ({ host: '127.0.0.1', port: Number(new URL(url).port) })

/** Other systems have no second loopback address: there only the server's port is unknown to pages. */
const testOnLinux = host.hasLoopbackNetwork ? test : test.skip

describe('the Web UI', () => {
  testOnLinux('answers requests under its own host name only, on no other port of the server', async () => {
    const json = { 'Content-Type': 'application/json' }
    const reachable = [...sockets.filter(({ host }) => host === '127.0.0.1'), socketOf(temporal.webUi)]
    expect(reachable.length).toBeGreaterThan(3)
    for (const socket of reachable) {
      const rebound = { ...json, Host: `evil.example:${socket.port}` }
      for (const path of [SIGNAL, `/api/v1${SIGNAL}`])
        expect([undefined, 403, 404, 421]).toContain(await ask(socket, path, rebound))
      const listStatus = await ask(socket, '/api/v1/namespaces/default/workflows', rebound, 'GET')
      expect([undefined, 403, 404, 421]).toContain(listStatus)
      // Requests by IP address are tested, too: other programs of this machine may use gRPC and the Web UI
      // only.
      const hostName = { ...json, Host: `127.0.0.1:${socket.port}`, 'X-CSRF-Token': 'none' }
      expect(await ask(socket, `/api/v1${SIGNAL}`, hostName)).not.toBe(200)
    }
    expect(await signalsOf(RUN)).toEqual([])
  })

  testOnLinux('has its server on an address that no page can guess', () => {
    const hidden = sockets.filter(socket => socket.host !== '127.0.0.1')
    expect(hidden).toHaveLength(1)
    expect(hidden[0]?.port).not.toBe(socketOf(temporal.webUi).port)
  })

  test('refuses changes from pages of other origins', async () => {
    const webUi = socketOf(temporal.webUi)
    const host = `localhost:${webUi.port}`
    for (const headers of [
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
        expect(await ask(webUi, `/api/v1${SIGNAL}`, { Host: host, ...headers }, method)).toBe(403)
    for (const hostName of [
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'evil.example#localhost',
      'localhost:x',
    ])
      expect(await ask(webUi, '/', { Host: hostName }, 'GET')).toBe(421)
    for (const hostName of ['localhost', `127.0.0.1:${webUi.port}`, '[::1]:1'])
      expect(await ask(webUi, '/', { Host: hostName }, 'GET')).toBe(200)
    expect(await signalsOf(RUN)).toEqual([])
  })

  test('lists runs, shows one and sends it a signal in a browser', async () => {
    const { page, complaints } = await visit(temporal.webUi)
    await page.getByRole('link', { name: RUN }).first().click()
    await page.getByRole('button', { name: 'More Actions' }).click()
    await page.getByRole('menu').getByText('Send a Signal').click()
    const dialog = page.locator('dialog[open]')
    await dialog.getByRole('textbox').first().fill('approve')
    await dialog.getByRole('button', { name: 'Submit' }).click()
    await until('the signal is there', async () => (await signalsOf(RUN)).includes('approve'))
    expect(complaints).toEqual([])
  })
})
