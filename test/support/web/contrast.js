/**
 * Runs inside a page: every text whose contrast with its background is below AA (4.5, or 3 for large text),
 * one line for each pair of colours.
 */
export function faintTexts() {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
  const brush = canvas.getContext('2d', { willReadFrequently: true })

  const rgbaOf = color => {
    brush.clearRect(0, 0, 1, 1)
    brush.fillStyle = color
    brush.fillRect(0, 0, 1, 1)
    return [...brush.getImageData(0, 0, 1, 1).data]
  }
  const luminanceOf = color => {
    const [red = 0, green = 0, blue = 0] = rgbaOf(color).map(value => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const groundOf = element => {
    if (!element) return 'white'
    const { backgroundColor } = getComputedStyle(element)
    return rgbaOf(backgroundColor)[3] === 255 ? backgroundColor : groundOf(element.parentElement)
  }
  const faults = new Set()
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent?.trim())
    if (!hasText || element.getClientRects().length === 0) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const ground = groundOf(element)
    const [least = 0, most = 0] = [luminanceOf(color), luminanceOf(ground)].sort((a, b) => a - b)
    const isLarge = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700)
    const contrast = (most + 0.05) / (least + 0.05)
    if (contrast < (isLarge ? 3 : 4.5))
      faults.add(`${element.tagName} ${element.className} ${color} on ${ground}: ${contrast.toFixed(2)}`)
  }
  return [...faults]
}
