import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { findConnection } from '../../src/command/credentials.ts'
import { aConfiguration } from '../support/identity/key-files.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

describe('the address of the service', () => {
  const folder = temporaryFolder()
  const instance = { url: 'http://127.0.0.1:8080', apiKey: 'sk_sandbox_a', dashboardSecret: 'kept' }
  writeFileSync(join(folder, 'instance.json'), JSON.stringify(instance))
  const nothing = { DATA_DIR: folder, XDG_CONFIG_HOME: join(folder, 'none') }
  const found = (env: Record<string, string>) => findConnection({ env: { ...nothing, ...env } })

  test('is that of the running sandbox, unless another one is given', () => {
    expect(found({})).toMatchObject({ url: instance.url, key: 'sk_sandbox_a', dashboardSecret: 'kept' })
    expect(found({ AGENTPAY_KEY: 'at_test_a' })).toMatchObject({ url: instance.url, key: 'at_test_a' })
  })

  test('is that of the current profile before the sandbox, whose operator stays the operator there', () => {
    const { env, write } = aConfiguration()
    const profile = { url: instance.url, key: 'sk_sandbox_b', keyId: 'key_1', ownerId: 'customer_1' }
    write(JSON.stringify({ current: 'mine', profiles: { mine: profile } }))
    expect(found(env)).toMatchObject({ url: instance.url, key: 'sk_sandbox_b', dashboardSecret: 'kept' })
  })

  test('never gets a key that was kept for another', () => {
    expect(found({ AGENTPAY_URL: 'https://pay.example' })).toMatchObject({
      url: 'https://pay.example',
      key: undefined,
      dashboardSecret: undefined,
    })
    expect(found({ AGENTPAY_URL: 'http://127.0.0.1:8080/v1' })).toMatchObject({ key: 'sk_sandbox_a' })
  })

  test.each(['http://pay.example', 'ftp://pay.example', 'pay.example', 'https://a:b@pay.example'])(
    'is refused as %s',
    address => {
      expect(() => found({ AGENTPAY_URL: address })).toThrow(
        /Use https|Write one such as|contains a name or password/,
      )
    },
  )
})
