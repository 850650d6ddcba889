-- Which file answers a request, in which coding, and how long it is fresh.

local request = lighty.r
local wanted = request.req_header
local answer = request.resp_header
local uri = request.req_attr["uri.path"]
local query = request.req_attr["uri.query"]

local function is_file(path)
    local stat = lighty.c.stat(root .. "/" .. path)
    return stat ~= nil and stat["is_file"]
end

-- The index page of a folder, given with its slash or as the root.
local function index_of(folder)
    for _, name in ipairs(indexes) do
        if is_file(folder .. name) then return folder .. name end
    end
end

local function moved(to)
    local encoded = to:gsub("[^%w%-%._~!%$%+;=:@/,]", function(c) return string.format("%%%02X", c:byte()) end)
    answer["Location"] = encoded .. ((query and query ~= "") and ("?" .. query) or "")
    answer["Cache-Control"] = fresh
    return 301
end

-- In thousandths; nil where the list does not name it.
local function stated(accept, token)
    for part in (accept .. ","):gmatch("([^,]*),") do
        local name = part:match("^%s*([^;%s]*)"):lower()
        if name == "x-gzip" then name = "gzip" end
        if name == token then
            local q = part:match(";%s*[qQ]=%s*([%d%.]*)")
            return q and math.floor((tonumber(q) or 0) * 1000 + 0.5) or 1000
        end
    end
end

local function weight(accept, token)
    return stated(accept, token) or stated(accept, "*") or 0
end

local function matches(pattern, path, address)
    local folder = path:match("^(.*/)index%.html$")
    local stem = path:match("^(.*)%.html$")
    return path:find(pattern) or address:find(pattern)
        or (folder and folder:find(pattern)) or (stem and stem:find(pattern))
end

-- Whether a name stands for its content.
local function is_immutable(path)
    if immutable then return immutable[path] end
    local hash = path:match("[%.%-]([0-9a-f]+)%.[^/%.]+$")
    return hash and #hash == 16
end

-- Sets what belongs to a file, and gives the place that is sent.
local function send(path, address, missing)
    local extension = (path:match("%.([^%./]*)$") or ""):lower()
    local own, headers = nil, {}
    for _, rule in ipairs(rules) do
        if matches(rule[1], "/" .. path, address) then
            for _, name in ipairs(rule[2]) do
                if name == "cache-control" then own = nil end
                headers[name] = nil
            end
            for _, header in ipairs(rule[3]) do
                local name = header[1]:lower()
                if name == "cache-control" then
                    own = header[2]
                else
                    headers[name] = headers[name] and (headers[name] .. ", " .. header[2]) or header[2]
                end
            end
        end
    end
    local link = links[link_of[path]]
    if link then headers["link"] = headers["link"] and (headers["link"] .. ", " .. link) or link end
    for name, value in pairs(headers) do answer[name] = value end
    local low = (own or ""):lower()
    local kept_away = low:find("no-store", 1, true) or low:find("private", 1, true)
    if missing then
        answer["Cache-Control"] = "no-cache"
    elseif is_immutable(path) and not kept_away then
        answer["Cache-Control"] = for_ever
    elseif own then
        answer["Cache-Control"] = own
    else
        answer["Cache-Control"] = pages[extension] and "no-cache" or fresh
    end

    local accept = wanted["Accept-Encoding"]
    local best, suffix, most = nil, "", 0
    local varies = false
    for _, coding in ipairs(codings) do
        if not foreign[path] and is_file(path .. coding[2]) then
            varies = true
            local q = accept and weight(accept, coding[1]) or 0
            if q > most then best, suffix, most = coding[1], coding[2], q end
        end
    end
    if varies then answer["Vary"] = "Accept-Encoding" end
    if best and most >= (stated(accept, "identity") or 0) then
        answer["Content-Encoding"] = best
        answer["Content-Type"] = types[extension] or "application/octet-stream"
    else
        suffix = ""
    end
    return root .. "/" .. path .. suffix
end

local function not_found(address)
    if error_page and is_file(error_page) then
        local place = send(error_page, address, true)
        answer["Content-Type"] = types["html"]
        request.resp_body:set({ { filename = place } })
    else
        answer["Cache-Control"] = "no-cache"
    end
    return 404
end

if uri .. "/" == prefix then return moved(prefix) end
if uri:sub(1, #prefix) ~= prefix then return not_found(uri) end
local path = uri:sub(#prefix + 1)
local address = "/" .. path
local visible = path:gsub("^%.well%-known/", "")
if ("/" .. visible):find("/%.") or private[path] then return not_found(address) end

local found
if path == "" or path:sub(-1) == "/" then
    found = index_of(path)
elseif is_file(path) then
    found = path
elseif index_of(path .. "/") then
    return moved(uri .. "/")
elseif is_file(path .. ".html") then
    found = path .. ".html"
end
if not found then return not_found(address) end
request.req_attr["physical.path"] = send(found, address, false)
