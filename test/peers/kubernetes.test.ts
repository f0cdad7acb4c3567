import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from '@jest/globals'
import { runPeer } from '../support/processes/peer.ts'

const KUSTOMIZE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1'
const VALIDATOR = 'kubernetes-validate==1.37.0'
const KUBERNETES = '1.34'

const folder = mkdtempSync(join(tmpdir(), 'agentpay-kubernetes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const run = promisify(execFile)

const HARDENED = [
  'runAsNonRoot: true',
  'readOnlyRootFilesystem: true',
  'allowPrivilegeEscalation: false',
  'automountServiceAccountToken: false',
]

test('Kustomize builds the manifests, and each passes the schema of Kubernetes and is hardened', async () => {
  const built = await runPeer('go', ['run', KUSTOMIZE, 'build', 'kubernetes'], '')
  const file = join(folder, 'built.yaml')
  writeFileSync(file, built)
  const programs = built.split('\n---\n').filter(text => /^kind: (Deployment|Job)$/m.test(text))
  expect(programs).toHaveLength(5)
  for (const text of programs) for (const line of HARDENED) expect(text).toContain(line)

  const own = join(folder, 'python')
  await run('python3', ['-m', 'venv', own])
  await run(join(own, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', VALIDATOR])
  const validate = ['--strict', '--kubernetes-version', KUBERNETES]
  const { stdout, stderr } = await run(join(own, 'bin/kubernetes-validate'), [...validate, file])
  const lines = `${stdout}${stderr}`.split('\n').filter(Boolean)
  const unchecked = lines.filter(line => !line.startsWith('INFO'))
  expect(unchecked).toEqual([expect.stringContaining('kind ScaledObject')])
  expect(lines.length).toBe(built.split('\n---\n').length)
})
