// SPDX-License-Identifier: Apache-2.0
// page.js - what paddock-browser knows of a page. It runs in a world of its
// own: the page's scripts share the document with it, and nothing else.
(() => {
'use strict';
if (globalThis.paddock)
	return true;

const TEXT = 500, LABEL = 120, SECTIONS = 400, LINKS = 100, IMAGES = 50;

// ---- when did the document change last ----

let changed = performance.now();
const watch = () => new MutationObserver(() => {
	changed = performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true,
	characterData: true});
watch();

// ---- elements ----

// Of this document alone: an id of another finds nothing here.
const nonce = Math.random().toString(36).slice(2, 8);
const ids = new WeakMap(), elements = new Map();
let count = 0;

function idOf(e) {
	let id = ids.get(e);
	if (!id) {
		id = 'e' + ++count + '_' + nonce;
		ids.set(e, id);
		elements.set(id, new WeakRef(e));
	}
	return id;
}

const squeeze = s => (s || '').replace(/\s+/g, ' ').trim();
const cut = (s, n) => {
	const a = Array.from(s.slice(0, 2 * n + 2));
	return a.length > n ? a.slice(0, n).join('') : s;
};

const CHOSEN = 'a[href],area[href],button,input,select,textarea,summary,' +
	'[contenteditable=""],[contenteditable="true"],[onclick],' +
	['button', 'link', 'checkbox', 'radio', 'tab', 'menuitem', 'option',
	 'switch', 'textbox', 'searchbox', 'combobox', 'slider']
		.map(r => `[role="${r}"]`).join(',');

function typeOf(e) {
	const tag = e.localName, role = e.getAttribute('role');
	if (tag === 'input')
		return {text: 'textbox', email: 'textbox', tel: 'textbox',
			url: 'textbox', number: 'textbox', search: 'searchbox',
			submit: 'button', button: 'button', reset: 'button',
			image: 'button'}[e.type] || e.type;
	if (role)
		return squeeze(role).split(' ')[0].toLowerCase();
	return {a: 'link', area: 'link', button: 'button', select: 'combobox',
		textarea: 'textbox', summary: 'button'}[tag] ||
		(e.isContentEditable ? 'textbox' : 'clickable');
}

// A label's words, without those of the control that it may hold.
function wordsOf(label) {
	let s = '';
	for (const n of label.childNodes)
		if (n.nodeType === Node.TEXT_NODE)
			s += n.data;
		else if (n.nodeType === Node.ELEMENT_NODE &&
			 !n.matches('select,textarea,button,script,style'))
			s += wordsOf(n);
	return s;
}

function labelOf(e) {
	const by = (e.getAttribute('aria-labelledby') || '').split(/\s+/)
		.map(id => id && document.getElementById(id))
		.filter(x => x).map(x => x.textContent).join(' ');
	const shown = e.localName === 'input' &&
		['submit', 'button', 'reset'].includes(e.type) ? e.value : '';
	const own = ['input', 'textarea'].includes(e.localName) ? '' :
		e.localName === 'select' ? '' : e.innerText || e.textContent;
	const said = [by, e.getAttribute('aria-label'),
		e.labels && Array.from(e.labels, wordsOf).join(' '),
		shown, own, e.getAttribute('placeholder'),
		e.getAttribute('alt'), e.getAttribute('title'),
		(e.querySelector('img[alt]') || {}).alt, e.getAttribute('name'),
		e.id];
	for (const s of said)
		if (typeof s === 'string' && squeeze(s))
			return cut(squeeze(s), LABEL);
	return '';
}

function visible(e) {
	const r = e.getBoundingClientRect();
	return r.width > 0 && r.height > 0 && (!e.checkVisibility ||
		e.checkVisibility({opacityProperty: true,
			visibilityProperty: true}));
}

function view(e) {
	const r = e.getBoundingClientRect();
	const v = {id: idOf(e), type: typeOf(e), label: labelOf(e),
		bounds: {x: Math.round(r.x + scrollX),
			y: Math.round(r.y + scrollY),
			width: Math.round(r.width),
			height: Math.round(r.height)}};
	if (e.disabled)
		v.disabled = true;
	if (e.localName === 'input' && ['checkbox', 'radio'].includes(e.type))
		v.checked = e.checked;
	return v;
}

// All that can be used, also in open shadow roots.
function all(root, into) {
	for (const e of root.querySelectorAll('*')) {
		if (e.matches(CHOSEN) &&
		    !(e.localName === 'input' && e.type === 'hidden'))
			into.push(e);
		if (e.shadowRoot)
			all(e.shadowRoot, into);
	}
	return into;
}

function find(a) {
	if (a.element) {
		const ref = elements.get(a.element), e = ref && ref.deref();
		return e && e.isConnected ? e : null;
	}
	return document.querySelector(a.selector);
}

// ---- kinds of page ----

function kind() {
	if (document.querySelector('input[type="password"]'))
		return 'login';
	const n = s => document.querySelectorAll(s).length;
	const fields = n('input:not([type="hidden"]),select,textarea');
	const text = document.body ? document.body.innerText.length : 0;
	if (document.querySelector('[role="search"],input[type="search"]') &&
	    text < 2000)
		return 'search';
	if (document.querySelector('article') || n('p') >= 5)
		return n('article') > 2 ? 'list' : 'article';
	if (fields >= 2)
		return 'form';
	if (n('li') >= 10 || n('tr') >= 10)
		return 'list';
	return 'page';
}

const page = () => ({url: location.href, title: document.title});

// ---- content ----

const BLOCK = 'h1,h2,h3,h4,h5,h6,p,li,pre,blockquote,td,th,dt,dd,figcaption,' +
	'caption,label,legend,summary';
const OUTSIDE = 'nav,footer,script,style,noscript,template';

// The text of E that is in no block of its own below it.
function ownText(e) {
	let s = '';
	for (const n of e.childNodes)
		if (n.nodeType === Node.TEXT_NODE)
			s += n.data;
		else if (n.nodeType === Node.ELEMENT_NODE &&
			 !n.matches(BLOCK + ',ul,ol,dl,table,' + OUTSIDE))
			s += ownText(n);
	return s;
}

function sections(max) {
	const out = [];
	let left = max, heading, truncated = false;
	const add = (tag, text) => {
		if (left <= 0 || out.length >= SECTIONS) {
			truncated = true;
			return;
		}
		const some = cut(text, Math.min(TEXT, left));
		truncated = truncated || some.length < text.length;
		left -= Array.from(some).length;
		const s = {tag, text: some};
		if (heading && !/^h[1-6]$/.test(tag))
			s.heading = heading;
		out.push(s);
	};
	const walk = e => {
		for (const n of e.childNodes) {
			if (n.nodeType === Node.TEXT_NODE) {
				const t = squeeze(n.data);
				if (t)
					add('text', t);
				continue;
			}
			if (n.nodeType !== Node.ELEMENT_NODE ||
			    n.matches(OUTSIDE) || (n.checkVisibility &&
				!n.checkVisibility()))
				continue;
			if (n.matches(BLOCK)) {
				const t = squeeze(ownText(n));
				if (/^h[1-6]$/.test(n.localName) && t)
					heading = cut(t, LABEL);
				if (t)
					add(n.localName, t);
				for (const c of n.querySelectorAll(BLOCK)) {
					const u = squeeze(ownText(c));
					if (u)
						add(c.localName, u);
				}
				continue;
			}
			const shown = getComputedStyle(n).display;
			if (shown.startsWith('inline') &&
			    !n.querySelector(BLOCK)) {
				const t = squeeze(n.innerText);
				if (t)
					add('text', t);
			} else
				walk(n.shadowRoot || n);
		}
	};
	if (document.body)
		walk(document.body);
	return {sections: out, truncated};
}

function metadata() {
	const m = {};
	const meta = (name, ...keys) => {
		for (const k of keys) {
			const e = document.querySelector(
				`meta[name="${k}"],meta[property="${k}"]`);
			if (e && squeeze(e.content)) {
				m[name] = cut(squeeze(e.content), TEXT);
				return;
			}
		}
	};
	meta('description', 'description', 'og:description');
	meta('keywords', 'keywords');
	meta('author', 'author', 'article:author');
	meta('published', 'article:published_time', 'date');
	meta('image', 'og:image');
	const canonical = document.querySelector('link[rel="canonical"]');
	if (canonical && canonical.href)
		m.canonical = cut(canonical.href, 2000);
	if (document.documentElement.lang)
		m.language = cut(document.documentElement.lang, 35);
	return m;
}

// At the caret of E, as a person's typing: an editor that is told of it first may do
// it in its own way. Was it done?
function insert(e, field, a) {
	const doc = e.ownerDocument;
	const none = a.text === '';
	if (none && (a.append || (field ? e.value : e.textContent) === ''))
		return true;
	const how = {inputType: none ? 'deleteContent' : 'insertText',
		data: none ? null : a.text, bubbles: true, composed: true,
		cancelable: true};
	if (!field && !e.dispatchEvent(new InputEvent('beforeinput', how)))
		return true;
	return Document.prototype.execCommand.call(doc,
		none ? 'delete' : 'insertText', false, a.text);
}

// ---- the functions that are called ----

globalThis.paddock = {
	quiet: () => ({quietMs: performance.now() - changed,
		loadState: document.readyState}),

	page: () => page(),

	info: a => {
		const found = all(document, [])
			.filter(e => !a.visibleOnly || visible(e));
		return {page: {...page(), type: kind()},
			elements: found.slice(0, a.maxElements).map(view),
			totalElements: found.length,
			truncated: found.length > a.maxElements};
	},

	content: a => {
		const s = sections(a.maxLength), links = [], images = [];
		const seen = new Set();
		for (const e of document.querySelectorAll('a[href]')) {
			if (links.length >= LINKS)
				break;
			if (!/^https?:/.test(e.href) || seen.has(e.href))
				continue;
			seen.add(e.href);
			links.push({text: cut(squeeze(e.innerText), LABEL),
				href: cut(e.href, 2000)});
		}
		for (const e of document.images) {
			if (images.length >= IMAGES)
				break;
			if (/^https?:/.test(e.src))
				images.push({src: cut(e.src, 2000),
					alt: cut(squeeze(e.alt), LABEL)});
		}
		return {title: document.title, sections: s.sections, links,
			images, metadata: metadata(), truncated: s.truncated};
	},

	find: a => {
		let found;
		if (a.selector) {
			try {
				found = Array.from(
					document.querySelectorAll(a.selector));
			} catch (e) {
				return {badSelector: true};
			}
			found = found.map(e => ({e, score: 1}));
		} else {
			const words = a.query.toLowerCase().split(/\s+/)
				.filter(w => w);
			found = all(document, []).filter(visible).map(e => {
				const label = labelOf(e).toLowerCase();
				const more = [e.id, e.getAttribute('name'),
					e.getAttribute('placeholder'),
					e.getAttribute('autocomplete'),
					typeOf(e)].join(' ').toLowerCase();
				const hits = words.filter(w =>
					label.includes(w)).length;
				const half = words.filter(w =>
					!label.includes(w) &&
					more.includes(w)).length;
				const whole = label === words.join(' ');
				return {e, score: (hits + half / 2) /
					words.length * (whole ? 1 : 0.9)};
			}).filter(f => f.score > 0);
		}
		if (a.type)
			found = found.filter(f => typeOf(f.e) === a.type);
		found.sort((x, y) => y.score - x.score);
		return {elements: found.slice(0, a.maxElements).map(f => ({
			...view(f.e), score: Math.round(f.score * 100) / 100,
			visible: visible(f.e)}))};
	},

	// Where to click: in view, and on top.
	point: a => {
		let e;
		try {
			e = find(a);
		} catch (x) {
			return {badSelector: true};
		}
		if (!e)
			return {found: false};
		e.scrollIntoView({block: 'center', inline: 'center',
			behavior: 'instant'});
		const r = e.getClientRects()[0] || e.getBoundingClientRect();
		const x = r.x + r.width / 2, y = r.y + r.height / 2;
		let top = document.elementFromPoint(x, y);
		while (top && top.shadowRoot && top.shadowRoot !== e.getRootNode())
			top = top.shadowRoot.elementFromPoint(x, y) || null;
		const on = top && (top === e || e.contains(top) ||
			top.contains(e) ||
			(e.labels && Array.from(e.labels)
				.some(l => l.contains(top))));
		return {found: true, visible: visible(e), covered: !on,
			disabled: !!e.disabled, x, y};
	},

	// Into the field, in place of what it has, or behind that. All of it in one task:
	// between two, a frame of another site takes the focus, and gets what is typed.
	type: a => {
		let e;
		try {
			e = find(a);
		} catch (x) {
			return {badSelector: true};
		}
		if (!e)
			return {found: false};
		e.scrollIntoView({block: 'center', behavior: 'instant'});
		e.focus();
		if (e.getRootNode().activeElement !== e && !e.isContentEditable)
			return {found: true, editable: false};
		const field = ['input', 'textarea'].includes(e.localName);
		if (!field && !e.isContentEditable)
			return {found: true, editable: false};
		if (field && (e.disabled || e.readOnly))
			return {found: true, editable: false};
		if (field && a.append) {
			try {
				e.setSelectionRange(e.value.length,
					e.value.length);
			} catch (x) {
				; // a kind without a caret
			}
		} else if (field)
			e.select();
		else {
			const s = e.ownerDocument.getSelection();
			s.selectAllChildren(e);
			if (a.append)
				s.collapseToEnd();
		}
		return {found: true, editable: true, typed: insert(e, field, a)};
	},

	look: a => {
		let ok = true;
		try {
			ok = !a.selector ||
				!!document.querySelector(a.selector);
		} catch (e) {
			return {badSelector: true};
		}
		ok = ok && (!a.text || (!!document.body &&
			squeeze(document.body.innerText)
				.includes(squeeze(a.text))));
		ok = ok && (!a.urlContains ||
			location.href.includes(a.urlContains));
		return {found: ok, page: page()};
	},

	size: () => {
		const d = document.documentElement, b = document.body || d;
		return {width: Math.max(d.scrollWidth, b.scrollWidth),
			height: Math.max(d.scrollHeight, b.scrollHeight),
			viewWidth: innerWidth, viewHeight: innerHeight};
	},
};
return true;
})()
