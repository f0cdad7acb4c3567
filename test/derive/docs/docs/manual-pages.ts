import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { operationRefusalRemedies } from '../../../../src/derive/docs/refusals.ts'
import { publishedOperations } from '../../../../src/kernel/contract/area.ts'
import { universalProblems } from '../../../../src/kernel/contract/problem.ts'
import { all, files, pages, raw } from './rendered-pages.ts'

describe('the documentation', () => {
  test('has a page for each guide, with its pictures and samples of the operations that it names', async () => {
    const paths = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    const guides = paths.filter(
      path => path.endsWith('.md') && !/^(README\.md|contributing\/|decisions\/)/.test(path),
    )
    const missing = guides.filter(path => !files.has(`/docs/guides/${basename(path, '.md')}`))
    expect(missing).toEqual([])
    const page = String(files.get('/docs/guides/approvals')?.content)
    const [picture = ''] = all(page, / src="(\/docs\/assets\/approve-page-phone-light[^"]+)"/g)
    const served = await raw(picture, { 'accept-encoding': 'br' })
    expect(served.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': expect.stringContaining('immutable'),
    })
    expect(served.bytes.equals(readFileSync('docs/pictures/approve-page-phone-light.png'))).toBe(true)
    expect(page).toContain('pay.intents.approve(')
  })

  test('lists the guides by purpose, and leads from one to another in HTML and Markdown', async () => {
    const overview = String(files.get('/docs/guides')?.content)
    const titles = all(overview, /<h2 id="[^"]+"><a href="#[^"]+">([^<]+)<\/a>/g)
    expect([titles[0], ...titles.slice(-2)].join()).toBe('Tutorials,Reference,Explanation')
    expect(String(files.get('/docs/guides/approvals')?.content)).toContain('href="/docs/guides/mandates"')
    const { bytes } = await raw('/docs/guides/approvals', { accept: 'text/markdown' })
    expect(bytes.toString()).toContain('](/docs/guides/mandates.md)')
    const served = [...bytes.toString().matchAll(/\]\((\/docs\/[^)#]+)/g)].map(([, address = '']) => address)
    const answers = await Promise.all(served.map(address => raw(address)))
    expect(answers.map(({ status }) => status)).toEqual(served.map(() => 200))
  })

  test('has a page for each code of a refusal, with each sentence and what to do', () => {
    const codes = publishedOperations(areas).flatMap(({ operation: { fails = {} } }) => Object.keys(fails))
    const missing = [...codes, ...Object.keys(universalProblems)].filter(
      code => !files.has(`/docs/errors/${code}`),
    )
    expect(missing).toEqual([])
    const page = String(files.get('/docs/errors/wallet_needed')?.content)
    expect(page).toContain('you have more than one open wallet')
    expect(page).toContain('href="/docs/agents#agents.fund"')
    expect(page).toContain('<p>Name the one that pays.</p>')
    expect(Object.keys(operationRefusalRemedies).filter(code => !codes.includes(code))).toEqual([])
    const mute = pages.filter(
      ([address, { content }]) => /\/errors\/./.test(address) && /<p><\/p>/.test(content),
    )
    expect(mute.map(([address]) => address)).toEqual([])
  })
})
