import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { preloadedScripts } from '../../../src/surface/console/browser/browser.ts'
import { theOwnerAtThePage } from './trial-service.ts'

const names = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const texts = fc.constantFrom('', 'One', 'Two', '<b>Three</b>')

const nodes = fc.letrec<{ node: string; list: string }>(tie => ({
  node: fc.oneof(
    { maxDepth: 3 },
    texts,
    fc
      .tuple(fc.constantFrom('p', 'li', 'div', 'section'), texts)
      .map(([kind, text]) => `<${kind}>${text}</${kind}>`),
    fc.tuple(names, texts).map(([name, text]) => `<li id="${name}" class="${text.length}">${text}</li>`),
    fc
      .tuple(names, texts)
      .map(([name, text]) => `<label>${text}<input name="${name}" value="${text.length}"></label>`),
    fc.tuple(names, tie('list')).map(([name, list]) => `<li><a href="${name}">${name}</a>${list}</li>`),
    fc.tuple(names, tie('list')).map(([name, list]) => `<div data-key="${name}">${list}</div>`),
  ),
  list: fc.array(tie('node'), { maxLength: 5 }).map(list => list.join('')),
}))

/** Runs in the page: morphs each node into the other, and returns the result beside the expected one. */
const MORPH = (script: string, pairs: unknown) => `import('./scripts/${script}').then(({ morph }) =>
  ${JSON.stringify(pairs)}.map(([before, after]) => {
    const [now, next] = [before, after].map(html => Object.assign(document.createElement('div'), { innerHTML: html }))
    document.body.append(now)
    morph(now, next)
    now.remove()
    return [now.innerHTML, next.innerHTML]
  }))`

test('a part is updated from any earlier state', async () => {
  const { page } = await theOwnerAtThePage()
  const script = String(preloadedScripts.find(({ name }) => name.startsWith('morph-'))?.name)
  const pairs = fc.sample(fc.tuple(nodes.list, nodes.list), 1_000)
  const results = (await page.evaluate(MORPH(script, pairs))) as [string, string][]
  expect(results).toHaveLength(1_000)
  expect(results.filter(([became, should]) => became !== should)).toEqual([])
})
