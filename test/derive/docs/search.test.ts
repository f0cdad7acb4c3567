import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { renderDocs } from '../../../src/derive/docs/docs.ts'
import { createSearch, type SearchDocument } from '../../../src/derive/docs/search.ts'
import { searchDocs } from '../../../src/derive/docs/search-page.ts'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import { EXPECTED_PAGES } from './docs/expected-pages.ts'
import { FOUND_FIRST } from './docs/found-first.ts'

const source = renderDocs(openapiDocument(areas)).search
const documents = JSON.parse(source.documents) as SearchDocument[]
const search = createSearch(documents)
const addressesOf = (query: string): string[] =>
  search(query).groups.flatMap(({ pages }) => pages.map(({ address }) => address))
const isMet = (expected: string, found = ''): boolean =>
  found === expected || (!expected.includes('#') && found.split('#')[0] === expected)

describe('the search of the documentation', () => {
  test('finds the page that a reader wants first for each of 40 queries', () => {
    const missed = EXPECTED_PAGES.filter(([query, page]) => !isMet(page, addressesOf(query)[0])).map(
      ([query, page]) => `${query}: ${page}, found ${addressesOf(query)[0]}`,
    )
    expect(EXPECTED_PAGES).toHaveLength(40)
    expect(missed).toEqual([])
  })

  test.each(FOUND_FIRST)('finds %s first at %s', (query, address) =>
    expect(addressesOf(query)[0]).toBe(address),
  )

  test('finds an operation by its scope, its event or its error code', () => {
    for (const word of ['tokens:write', 'policy.assigned', 'external_id_taken'])
      expect(addressesOf(word)).toContainEqual(expect.stringMatching(/^\/docs\/api\/./))
  })

  test('forgives a misspelt word, and finds a word by its beginning', () => {
    expect(addressesOf('idempotancy')[0]).toBe('/docs/api#idempotency')
    expect(addressesOf('unfre')).toContain('/docs/api/agents.unfreeze')
  })

  test('shows what has most of the words where nothing has all of them, and says so', () => {
    const { isNearest, groups } = search('unfreeze an agent zebra')
    expect([isNearest, groups[0]?.pages[0]?.address]).toEqual([true, '/docs/api/agents.unfreeze'])
    expect(search('zebra')).toEqual({ groups: [], count: 0, isNearest: false })
  })

  test('marks the words in a part of the text, which is short', () => {
    const [page] = search('signature').groups.flatMap(({ pages }) => pages)
    expect(
      page?.snippet
        .filter((_, n) => n % 2 === 1)
        .join()
        .toLowerCase(),
    ).toContain('sign')
    expect(page?.snippet.join('').length).toBeLessThan(260)
  })

  test('fills the page of results for browsers without a script, and escapes the query', () => {
    const query = { template: 'search', words: '<b>webhook' } as const
    expect(searchDocs(query, null)).toBeUndefined()
    const page = searchDocs(query, source)
    expect(searchDocs(query, null)).toBe(page)
    expect(page).toContain('value="&lt;b&gt;webhook"')
    expect(page).toContain('href="/docs/guides/webhooks"')
    expect(page).not.toMatch(/\{\{|<b>webhook/)
  })
})
