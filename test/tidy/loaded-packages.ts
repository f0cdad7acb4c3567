import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '../..')

/** Loads a program's modules in a process of its own, and prints the packages that were loaded with them. */
const LOADING = `
import { registerHooks } from 'node:module'
const packages = new Set()
const load = (url, context, next) => {
  const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
  if (name) packages.add(name)
  return next(url, context)
}
registerHooks({ load })
for (const file of ['app/service', 'app/background', 'app/sepa-inbox', 'dev/seed', 'dev/temporal/start'])
  await import('./src/' + file + '.ts')
process.stdout.write(JSON.stringify([...packages]))
process.exit()`

/** Large packages that most processes never need, or need only after they serve. */
const LATE =
  /^(@napi-rs|@img|@opentelemetry\/(?!api$)|@temporalio|@grpc|@simplewebauthn|pdfjs-dist|sharp|stripe|web-push|pdfkit|dejavu-fonts-ttf|marked)/

test('the API serves before it loads the large packages that are used rarely', () => {
  const args = ['--input-type=module', '--eval', LOADING]
  const loaded: string[] = JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
  expect(loaded).toContain('express')
  expect(loaded.filter(name => LATE.test(name))).toEqual([])
})
