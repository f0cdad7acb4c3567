/** Runs in a page without a policy: the pixels of a PNG in Base64, as RGBA in Base64. */
export async function pixelsOf(png) {
  const bytes = Uint8Array.from(atob(png), character => character.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes]))
  const { width, height } = bitmap
  const brush = new OffscreenCanvas(width, height).getContext('2d')
  brush.drawImage(bitmap, 0, 0)
  let text = ''
  for (const value of brush.getImageData(0, 0, width, height).data) text += String.fromCharCode(value)
  return { width, height, pixels: btoa(text) }
}
