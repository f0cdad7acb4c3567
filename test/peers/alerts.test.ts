import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { findProgram } from '../support/processes/debian-program.ts'
import { runPeer } from '../support/processes/peer.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentpay-promtool-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const promtool = findProgram('usr/bin/promtool', ['prometheus'], folder).path

test('promtool accepts the alert rules, and each fires when it should and not before', async () => {
  expect(await runPeer(promtool, ['check', 'rules', 'monitoring-config/alerts.yaml'], '')).toContain(
    'SUCCESS',
  )
  expect(await runPeer(promtool, ['test', 'rules', 'monitoring-config/alerts.test.yaml'], '')).toContain(
    'SUCCESS',
  )
})

test('promtool accepts each expression of the dashboard', async () => {
  const { panels } = JSON.parse(readFileSync('monitoring-config/dashboard.json', 'utf8')) as {
    panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
  }
  const drawn = panels.flatMap(({ targets = [] }) => targets)
  const rules = drawn.map(({ expr }, number) => ({ record: `dashboard:expression:${number}`, expr }))
  const file = join(folder, 'dashboard.json')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  expect(await runPeer(promtool, ['check', 'rules', file], '')).toContain(`${rules.length} rules found`)
})
