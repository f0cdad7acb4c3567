import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { keepTemporalConnected } from '../../../src/app/temporal-access.ts'
import { openLog } from '../../../src/platform/log.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { temporalConnection } from '../../../src/platform/temporal/connection.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { until } from '../../support/until.ts'

const address = 'temporal.example:7233'
const connection = (env: NodeJS.ProcessEnv) =>
  temporalConnection(readSettings({ TEMPORAL_ADDRESS: address, ...env }), address)

describe('the connection to a Temporal server', () => {
  test('is plain by default', () => {
    expect(connection({})).toEqual({ address, tls: false })
  })

  test('is encrypted with an API key, unless TEMPORAL_TLS is false', () => {
    const apiKey = 'a key of the cloud'
    expect(connection({ TEMPORAL_API_KEY: apiKey })).toEqual({ address, apiKey, tls: true })
    const plain = { TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS: 'false' }
    expect(connection(plain)).toEqual({ address, apiKey, tls: false })
  })

  test('is encrypted if TEMPORAL_TLS is true', () => {
    expect(connection({ TEMPORAL_TLS: 'true' })).toEqual({ address, tls: true })
  })

  test('to the embedded server sends no API key', () => {
    const settings = readSettings({ TEMPORAL_API_KEY: 'a key of the cloud', TEMPORAL_TLS: 'true' })
    const own = '127.0.0.1:7233'
    expect(temporalConnection(settings, own)).toEqual({ address: own, tls: false })
  })
})

describe('TLS certificates', () => {
  const folder = temporaryFolder()
  const file = (name: string) => join(folder, name)
  beforeAll(() => {
    for (const name of ['cert', 'key', 'ca']) writeFileSync(file(name), name)
  })

  test('are read from their files', () => {
    const settings = { TEMPORAL_TLS_CERT: file('cert'), TEMPORAL_TLS_KEY: file('key') }
    const clientCertPair = { crt: Buffer.from('cert'), key: Buffer.from('key') }
    expect(connection(settings).tls).toEqual({ clientCertPair })
    const serverRootCACertificate = Buffer.from('ca')
    expect(connection({ TEMPORAL_TLS_CA: file('ca') }).tls).toEqual({ serverRootCACertificate })
    expect(connection({ ...settings, TEMPORAL_TLS_CA: file('ca') }).tls).toEqual({
      clientCertPair,
      serverRootCACertificate,
    })
  })

  test('without their key are refused, and keys without a certificate, too', () => {
    expect(() => connection({ TEMPORAL_TLS_CERT: file('cert') })).toThrow('go together')
    expect(() => connection({ TEMPORAL_TLS_KEY: file('key') })).toThrow('go together')
  })

  test('that cannot be read are refused with the name of their setting', () => {
    expect(() => connection({ TEMPORAL_TLS_CA: file('none') })).toThrow(
      'TEMPORAL_TLS_CA cannot be read (ENOENT).',
    )
  })
})

describe('a part that needs Temporal', () => {
  const log = openLog({ level: 'silent', secrets: [] })

  test('does not let its stop wait for a connection that takes long, and ends what connects later', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let signal: AbortSignal | undefined
    let ended = false
    const part = keepTemporalConnected({ log }, 'part', async stopping => {
      signal = stopping
      await promise
      return {
        async stop() {
          ended = true
        },
      }
    })
    await part.stop()
    expect(signal?.aborted).toBe(true)
    resolve()
    await until('its end', () => ended)
  })
})
