import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { errorAdvice } from '../../../../src/derive/docs/error-advice.ts'
import { publishedOperations } from '../../../../src/kernel/contract/area.ts'
import { universalProblems } from '../../../../src/kernel/contract/problem.ts'
import { all, files, pages, raw } from './rendered-pages.ts'

describe('the documentation', () => {
  test('has a page for each guide, with its pictures and links to the operations that it names', async () => {
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
    expect(page).toContain('href="/docs/api/intents.approve"')
  })

  test('lists the guides by purpose, and leads from one to another in HTML and Markdown', async () => {
    const overview = String(files.get('/docs/guides')?.content)
    const titles = all(overview, /<h2 id="[^"]+"><a href="#[^"]+">([^<]+)<\/a>/g)
    expect([titles[0], titles.at(-1)]).toEqual(['Let agents spend', 'Use the console'])
    const parts = ['', '/guides', '/operate'].map(path => String(files.get(`/docs${path}`)?.content))
    const reached = parts.flatMap(part => all(part, / href="\/docs\/guides\/([\w-]+)"/g))
    const names = pages.flatMap(([address]) => /^\/docs\/guides\/(.+)/.exec(address)?.[1] ?? [])
    expect(names.filter(name => !reached.includes(name))).toEqual([])
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
    expect(page).toContain('href="/docs/api/agents.fund"')
    expect(page).toContain('<p>Name the one that pays.</p>')
    const all = new Set([...codes, ...Object.keys(universalProblems)])
    expect([...errorAdvice.keys()].filter(code => !all.has(code))).toEqual([])
  })

  test('explains each code whose messages only state what is so', () => {
    const messages = new Map<string, string[]>()
    for (const { operation } of publishedOperations(areas))
      for (const [code, [, message]] of Object.entries(operation.fails ?? {}))
        messages.set(code, [...(messages.get(code) ?? []), message])
    const isBare = (message: string): boolean => {
      const statement = message.replace(/^[\w.,-]+(?: (?:or|and) \w+)?: /, '')
      return !/[.:;,] |\b(?:since|because|for|unless)\b/.test(statement)
    }
    const unexplained = [...messages].filter(
      ([code, all]) => all.every(isBare) && !errorAdvice.get(code)?.cause,
    )
    expect(messages.size).toBeGreaterThan(400)
    expect(unexplained).toEqual([])
  })

  test('explains a code by its operations and their messages, not by its name', async () => {
    const causeIn = (code: string) => {
      const content = String(files.get(`/docs/errors/${code}`)?.content)
      return content.slice(content.indexOf('id="why-it-happens"'), content.indexOf('id="how-to-fix-it"'))
    }
    expect(causeIn('refund_not_pending')).toMatch(
      /<p>It is returned by:<\/p>\s*<ul><li><a [^>]*refunds\.cancel/,
    )
    expect(causeIn('challenge_expired')).toContain(
      '“url: the challenge of the merchant has expired.” is returned by:',
    )
    expect(causeIn('rate_limited')).toContain('Any operation can return it.')
    expect(causeIn('authorization_pending')).toContain('No person has decided')
    const text = String((await raw('/docs/errors/refund_not_pending.md')).bytes)
    expect(text).toContain(
      'It is returned by:\n\n- [Cancel a refund](/docs/api/refunds.cancel.md): `POST /refunds/{id}/cancel`',
    )
    expect(text).not.toContain('\n\n\n')
  })

  test.each([
    ['refund_not_pending', 'GET /refunds/{id}'],
    ['card_closed', 'GET /cards/{id}'],
    ['run_ended', undefined],
    ['request_not_open', undefined],
  ])('advises to read a record for %s only if the code is about that record', (code, read) => {
    const [, sample = ''] = String(files.get(`/docs/errors/${code}`)?.content).split('id="how-to-fix-it"')
    expect(sample.includes('Read the record as it is now:')).toBe(read !== undefined)
    if (read) expect(sample).toContain(read.replace('GET ', '').replace('/{id}', '/'))
  })

  test('says for each error code what it means, why it happens and how to fix it, with a sample', () => {
    const errors = pages.filter(([address]) => /\/errors\/./.test(address))
    const mute = errors.filter(
      ([, { content }]) =>
        !['what-it-means', 'why-it-happens', 'how-to-fix-it'].every(id =>
          new RegExp(`<h2 id="${id}">[^\\n]*?</h2><p>.{5}`).test(content),
        ) ||
        !content.includes('data-language="curl"') ||
        /<p><\/p>/.test(content),
    )
    expect(errors.length).toBeGreaterThan(400)
    expect(mute.map(([address]) => address)).toEqual([])
  })
})
