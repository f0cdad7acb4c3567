import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { findProgram } from '../support/processes/debian-program.ts'
import { runPeer } from '../support/processes/peer.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentpay-promtool-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('promtool accepts the alert rules, and each fires when it should and not before', async () => {
  const promtool = findProgram('usr/bin/promtool', ['prometheus'], folder).path
  expect(await runPeer(promtool, ['check', 'rules', 'monitoring-config/alerts.yaml'], '')).toContain(
    'SUCCESS',
  )
  expect(await runPeer(promtool, ['test', 'rules', 'monitoring-config/alerts.test.yaml'], '')).toContain(
    'SUCCESS',
  )
})
