import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const completed = async (...words: string[]) =>
  (await runCommand(['complete', '--', ...words])).out.split('\n').slice(0, -1)

const launcher = join(import.meta.dirname, '../../src/bin/launcher/agentpay.mjs')

/** bash's own candidates after it has loaded the script of the real program. */
function offeredByBash(line: string): string[] {
  const folder = temporaryFolder()
  const program = join(folder, 'agentpay')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`)
  chmodSync(program, 0o755)
  const words = line
    .split(/(?<=[:=])|(?=[:=])| /)
    .filter((word, index, all) => word !== '' || index === all.length - 1)
  const script = `
source <(agentpay completion bash)
COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
$(complete -p agentpay | sed 's/.*-F \\([^ ]*\\).*/\\1/') agentpay
printf '%s\\n' "\${COMPREPLY[@]}"`
  const path = `${folder}:${process.env.PATH}`
  const output = execFileSync('bash', ['--norc', '-c', script], { env: { ...process.env, PATH: path } })
  return output.toString().split('\n').slice(0, -1)
}

describe('completion', () => {
  test('offers nouns, commands of its own, verbs, members, options and choices', async () => {
    expect(await completed('agent')).toEqual(['agents', 'agent-tokens', 'agent-credentials'])
    expect(await completed('ver')).toEqual(['verify', 'version'])
    expect(await completed('intents', 'ca')).toEqual(['cancel'])
    expect(await completed('intents', 'create', '--am')).toEqual(['--amountEuros'])
    expect(await completed('intents', 'list', '--al')).toEqual(['--all'])
    expect(await completed('intents', 'list', '--status', 'c')).toEqual(['created', 'cancelled', 'completed'])
    expect(await completed('intents', 'list', '--status=ap')).toEqual(['--status=approved'])
    expect(await completed('help', 'intents', 'de')).toEqual(['deny'])
    expect(await completed('mpp', 'pay', '--member')).toEqual(['--member.body'])
    expect(await completed('nothing', '')).toEqual([])
  })

  test('offers the names of events, also behind a comma, and files for a body', async () => {
    expect(await completed('events', 'tail', '--type', 'agent.fr')).toEqual(['agent.frozen'])
    expect(await completed('events', 'tail', '--type', 'intent.created,agent.fr')).toEqual([
      'intent.created,agent.frozen',
    ])
    expect(await completed('events', 'list', '--event=agent.fr')).toEqual(['--event=agent.frozen'])
    expect(await completed('webhooks', 'listen', '--events', 'agent.fr')).toEqual(['agent.frozen'])
    const cwd = temporaryFolder()
    for (const name of ['body.json', 'bill.pdf', '.hidden']) writeFileSync(join(cwd, name), '{}')
    mkdirSync(join(cwd, 'bodies'))
    writeFileSync(join(cwd, 'bodies', 'one.json'), '{}')
    const offered = async (...words: string[]) =>
      (await runCommand(['complete', '--', ...words], { cwd })).out.split('\n').slice(0, -1).toSorted()
    expect(await offered('agents', 'create', '--body', '@bod')).toEqual(['@bodies/', '@body.json'])
    expect(await offered('agents', 'create', '--body=@bodies/')).toEqual(['--body=@bodies/one.json'])
    expect(await offered('receipts', 'create', '--file', 'bi')).toEqual(['bill.pdf'])
    expect(await offered('agents', 'create', '--body', '@nowhere/')).toEqual([])
  })

  test('lists the completions with descriptions for other shells', async () => {
    const { out } = await runCommand(['complete', '--about', '--', 'intents', 'ca'])
    expect(out).toBe('cancel\tCancel an intent\n')
  })

  test('works in bash, also within words that bash parts', () => {
    expect(offeredByBash('agentpay intents expl')).toEqual(['explanation'])
    expect(offeredByBash('agentpay events tail --type agent.fr')).toEqual(['agent.frozen'])
    expect(offeredByBash('agentpay agent-tokens create agent_1 --scopes intents:r')).toEqual(['read'])
  })

  test('has a script for bash, zsh and fish, and for no other shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await runCommand(['completion', shell])).out).toMatch(/agentpay/)
    const { code, err } = await runCommand(['completion', 'zhs'])
    expect([code, err]).toEqual([
      2,
      'Completion exists for bash, zsh and fish, not for zhs. Did you mean zsh?\n',
    ])
  })
})
