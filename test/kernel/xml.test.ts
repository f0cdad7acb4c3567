import { describe, expect, test } from '@jest/globals'
import { allAt, readXml, textAt, UnreadableXml } from '../../src/kernel/xml.ts'

describe('a document is read', () => {
  test('as a tree of local names, with its texts and attributes', () => {
    const root = readXml(
      '<?xml version="1.0"?><!-- of a bank --><b:a xmlns:b="urn:b"><b:c k="1">x<!-- y -->z</b:c><b:c/></b:a>',
    )
    expect([root.name, root.namespace]).toEqual(['a', 'urn:b'])
    const [first, second] = allAt(root, 'c')
    expect([first?.text, first?.attributes.get('k')]).toEqual(['xz', '1'])
    expect([second?.text, second?.children]).toEqual(['', []])
  })

  test('with the five entities that there are, references to characters, and CDATA', () => {
    const { text } = readXml('<a>&lt;&amp;&gt;&quot;&apos; &#252; &#x20AC; <![CDATA[<b>&amp;</b>]]></a>')
    expect(text).toBe(`<&>"' ü € <b>&amp;</b>`)
  })

  test('by paths: all that is there, and the first text that is', () => {
    const root = readXml('<a><b><c>1</c></b><b><c> 2 </c><d/></b></a>')
    expect(allAt(root, 'b/c').map(({ text }) => text)).toEqual(['1', ' 2 '])
    expect(textAt(root, 'b/d', 'x', 'b/c')).toBe('1')
    expect([textAt(root, 'b/d'), textAt(root, 'x/y'), allAt(root, 'x/y')]).toEqual([null, null, []])
  })

  test('down to the deepest level that is allowed', () => {
    const nested = (levels: number) => '<a>'.repeat(levels) + '</a>'.repeat(levels)
    expect(readXml(nested(32)).name).toBe('a')
    expect(() => readXml(nested(33))).toThrow(/nested more than 32/)
  })
})

describe('a document is refused', () => {
  test.each([
    ['empty', ''],
    ['text alone', 'text'],
    ['two roots', '<a/><b/>'],
    ['not closed', '<a>'],
    ['closed otherwise', '<a></b>'],
    ['with an attribute without a value', '<a b/>'],
    ['with an entity that it does not define', '<a>&b;</a>'],
    ['with an entity that it defines', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['with an entity that it defines in its midst', '<a><!DOCTYPE a [<!ENTITY b "c">]>&b;</a>'],
    ['with an entity that is elsewhere', '<!DOCTYPE a SYSTEM "a.dtd"><a/>'],
    ['of too many elements', `<a>${'<b/>'.repeat(200_001)}</a>`],
  ])('%s', (_, text) => {
    expect(() => readXml(text)).toThrow(UnreadableXml)
  })
})
