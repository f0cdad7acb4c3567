import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { runPeer } from '../support/processes/peer.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentpay-promtool-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The promtool of this machine, or Debian's, unpacked into a folder. */
function findPromtool(): string {
  try {
    return execFileSync('which', ['promtool'], { encoding: 'utf8' }).trim()
  } catch {
    execFileSync('apt-get', ['--quiet', 'download', 'prometheus'], { cwd: folder, stdio: 'ignore' })
    const [archive = ''] = readdirSync(folder)
    execFileSync('dpkg-deb', ['--extract', join(folder, archive), folder])
    return join(folder, 'usr/bin/promtool')
  }
}

test('promtool accepts the alert rules, and each fires when it should and not before', async () => {
  const promtool = findPromtool()
  expect(await runPeer(promtool, ['check', 'rules', 'monitoring-config/alerts.yaml'], '')).toContain(
    'SUCCESS',
  )
  expect(await runPeer(promtool, ['test', 'rules', 'monitoring-config/alerts.test.yaml'], '')).toContain(
    'SUCCESS',
  )
})
