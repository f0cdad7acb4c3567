import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../support/tidy/sources.ts'

/**
 * At npm and PyPI the name belongs to others: what fetches or runs it by its name alone runs their program, with our
 * key in its environment. A path before the name, or a wheel's version behind it, makes it ours.
 */
const BY_NAME =
  /\b(?:npx|pnpx|bunx|uvx|pipx|(?:npm|pnpm|yarn|bun) (?:add|ci|create|dlx|exec|i|install|x)|uv tool|(?:pip3?|uv|poetry|pdm|conda) (?:add|install)) (?:(?:args|install|run|-\S*(?: \S+)?) )*agentpay(?![\w/-])/

const isShown = (path: string): boolean => !/^(test\/|package-lock\.json$)/.test(path)

const texts = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', ':!*.png', ':!*.otf', ':!*.ttf', ':!*.pdf'],
  { cwd: root, encoding: 'utf8' },
)
  .trim()
  .split('\n')
  .filter(isShown)

/** Quotes and brackets go, so that JSON and an array of arguments read as a line of a shell does. */
const byName = (text: string): string | undefined =>
  BY_NAME.exec(text.replaceAll(/["'`,:=[\]{}\s\\]+/g, ' '))?.[0]

test.each([
  'npx agentpay login',
  '`npx -y agentpay`',
  '{ "command": "npx", "args": ["agentpay", "mcp"] }',
  '"command": "npx",\n      "args": ["-y", "agentpay", "mcp"]',
  'npm i agentpay',
  'npm install --save-exact agentpay',
  'npm exec -- agentpay',
  'pip install agentpay',
  'pip install --upgrade agentpay.',
  'uvx agentpay',
  'uvx --from agentpay mcp',
  'uv tool install agentpay',
  'pipx run agentpay',
  'npx --package agentpay@0.8.0 agentpay',
  "spawn('npx', ['agentpay', 'mcp'])",
])('%j would run the program of others', text => {
  expect(byName(text)).toBeDefined()
})

test.each([
  'npm run -s agentpay -- intents list',
  'npm install <checkout>/dist/packages/typescript',
  'pip install dist/packages/python/agentpay-0.8.0-py3-none-any.whl',
  'node_modules/.bin/agentpay mcp',
  '`npm link` puts `agentpay` on your path',
])('%j runs ours', text => {
  expect(byName(text)).toBeUndefined()
})

test('no text fetches or runs agentpay by its name alone', () => {
  const found = texts.flatMap(path => {
    const said = byName(readFileSync(join(root, path), 'utf8'))
    return said === undefined
      ? []
      : [`${path}: “${said}” runs a stranger’s program. Name the path of the command, or \`npm run\`.`]
  })
  expect(found).toEqual([])
})
