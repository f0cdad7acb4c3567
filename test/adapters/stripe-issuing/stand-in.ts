import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { findStripeMock } from '../../support/cards/stripe-mock-binary.ts'
import { fakeGo, type Tools, tools } from '../../support/processes/tools.ts'

const SUM = 'h1:EzW7nb/fphqcAkgVRHAaC88OaAZo6SBWSl54cflDTio='
const versionOf = (version: string) => `#!/bin/sh\necho stripe-mock ${version}\n`
const find = ({ env }: Tools, more = {}) => findStripeMock({ env: { ...env, ...more }, tell: () => {} })

test('Stripe’s stand-in is the one that STRIPE_MOCK names, else one of the right version on the PATH', async () => {
  const machine = tools()
  const installed = machine.install('stripe-mock', versionOf('0.203.0'))
  expect(await find(machine)).toBe(installed)
  expect(await find(machine, { STRIPE_MOCK: '/opt/stripe-mock' })).toBe('/opt/stripe-mock')
})

test('builds the Stripe stand-in once if it is missing or older', async () => {
  const machine = tools()
  machine.install('stripe-mock', versionOf('0.100.0'))
  fakeGo(machine, { sum: SUM, result: machine.put('built', versionOf('0.203.0')) })
  const binary = await find(machine)
  expect(binary.startsWith(join(machine.env.XDG_CACHE_HOME, 'agentpay/stripe-mock-0.203.0'))).toBe(true)
  expect(existsSync(binary)).toBe(true)
  expect(await find(machine)).toBe(binary)
  expect(machine.goCalls().filter(call => call.startsWith('build'))).toHaveLength(1)
})

test('the Stripe mock is built only from its pinned source, and a missing Go is reported with the remedy', async () => {
  const machine = tools()
  await expect(find(machine)).rejects.toThrow(/Go is not installed\. Install Go, or set STRIPE_MOCK\.$/)
  fakeGo(machine, { sum: 'h1:another', result: machine.put('built', '') })
  await expect(find(machine)).rejects.toThrow('has an unexpected checksum')
})
